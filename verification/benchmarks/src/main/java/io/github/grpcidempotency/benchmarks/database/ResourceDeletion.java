package io.github.grpcidempotency.benchmarks.database;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jdbi.v3.core.Jdbi;

/**
 * Measures how long the deletion of a resource looks for its record, by the output of {@code
 * EXPLAIN ANALYZE} for the trigger of each table's foreign key.
 */
public final class ResourceDeletion {
  private static final Pattern TRIGGER =
      Pattern.compile("Trigger (\\S+) .*time=([0-9.]+) calls=(\\d+)");

  private ResourceDeletion() {}

  /** Deletes the newest projects, and returns the microseconds for each, by table. */
  public static Map<KeyTable, Double> measure(
      Jdbi superuser, List<KeyTable> tables, int deletions) {
    Map<KeyTable, Double> micros = new LinkedHashMap<>();
    superuser.useHandle(
        handle -> {
          for (String line :
              handle
                  .createQuery(DurableDatabase.script("delete_newest"))
                  .bind("count", deletions)
                  .mapTo(String.class)
                  .list()) {
            Matcher trigger = TRIGGER.matcher(line);
            if (trigger.find()) {
              String schema =
                  handle
                      .createQuery(DurableDatabase.script("schema_of_trigger"))
                      .bind("trigger", trigger.group(1))
                      .mapTo(String.class)
                      .findOne()
                      .orElse("");
              double each =
                  1_000
                      * Double.parseDouble(trigger.group(2))
                      / Double.parseDouble(trigger.group(3));
              tables.stream()
                  .filter(table -> table.schema().equals(schema))
                  .forEach(table -> micros.merge(table, each, Double::sum));
            }
          }
        });
    return micros;
  }
}
