package io.github.grpcidempotency.benchmarks.database;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;

/**
 * How long the deletion of a resource looks for its record, by what {@code EXPLAIN ANALYZE} says of
 * the trigger of each table's foreign key.
 */
public final class ResourceDeletion {
  private static final Pattern TRIGGER = Pattern.compile("Trigger (\\S+) .*time=([0-9.]+)");

  private static final String TABLE_OF_TRIGGER =
      """
      SELECT n.nspname
        FROM pg_trigger AS t
        JOIN pg_class AS c ON c.oid = t.tgconstrrelid
        JOIN pg_namespace AS n ON n.oid = c.relnamespace
       WHERE t.tgname = :trigger AND t.tgrelid = 'app.project'::regclass
      """;

  private ResourceDeletion() {}

  /** Deletes the newest projects one by one, and returns the medians, in microseconds. */
  public static Map<KeyTable, Double> measure(
      Jdbi superuser, List<KeyTable> tables, int deletions) {
    Map<String, List<Double>> byTrigger = new LinkedHashMap<>();
    Map<KeyTable, Double> medians = new LinkedHashMap<>();
    superuser.useHandle(
        handle -> {
          for (UUID project : newest(handle, deletions)) {
            delete(handle, project, byTrigger);
          }
          Map<String, Double> bySchema = new LinkedHashMap<>();
          byTrigger.forEach(
              (trigger, micros) ->
                  bySchema.merge(schemaOf(handle, trigger), median(micros), Double::sum));
          for (KeyTable table : tables) {
            medians.put(table, bySchema.getOrDefault(table.schema(), Double.NaN));
          }
        });
    return medians;
  }

  private static List<UUID> newest(Handle handle, int count) {
    return handle
        .createQuery("SELECT id FROM app.project ORDER BY id DESC LIMIT :count")
        .bind("count", count)
        .mapTo(UUID.class)
        .list();
  }

  private static void delete(Handle handle, UUID project, Map<String, List<Double>> byTrigger) {
    List<String> plan =
        handle
            .createQuery(
                "EXPLAIN (ANALYZE, VERBOSE) DELETE FROM app.project WHERE id = '%s'"
                    .formatted(project))
            .mapTo(String.class)
            .list();
    for (String line : plan) {
      Matcher trigger = TRIGGER.matcher(line);
      if (trigger.find()) {
        byTrigger
            .computeIfAbsent(trigger.group(1), unused -> new ArrayList<>())
            .add(1_000 * Double.parseDouble(trigger.group(2)));
      }
    }
  }

  private static String schemaOf(Handle handle, String trigger) {
    return handle
        .createQuery(TABLE_OF_TRIGGER)
        .bind("trigger", trigger)
        .mapTo(String.class)
        .findOne()
        .orElse("");
  }

  private static double median(List<Double> values) {
    return values.stream().sorted().skip(values.size() / 2).findFirst().orElseThrow();
  }
}
