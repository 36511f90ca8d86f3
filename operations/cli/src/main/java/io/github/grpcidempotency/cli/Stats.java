package io.github.grpcidempotency.cli;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import io.github.grpcidempotency.admin.Administration;
import io.github.grpcidempotency.admin.Statistics;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Prints figures of the table. */
@Command(
    name = "stats",
    sortOptions = false,
    description =
        "Prints figures of the table: its size, the number of operations in flight and stuck, the lag"
            + " of the sweep, and the records of each procedure, with those of the last hour and day."
            + " Reads at most 10,000 pages of the table, and no contents.",
    footer = {"", "Examples:", "  idempotency stats", "  idempotency stats --output json"})
final class Stats implements Callable<Integer> {
  private final Surroundings surroundings;

  @Mixin private ConnectionOptions connection = new ConnectionOptions();
  @Mixin private OutputOptions output = new OutputOptions();

  Stats(Surroundings surroundings) {
    this.surroundings = surroundings;
  }

  @Override
  public Integer call() {
    Administration administration = Database.connect(connection, surroundings).administration();
    Statistics statistics = administration.statistics();
    List<Statistics.OfProcedure> procedures = administration.procedures();
    Output results = Output.to(surroundings);
    if (output.isJson()) {
      JsonObject json = json(statistics);
      json.add("procedures", json(procedures));
      results.json(json);
    } else {
      results.fields(fields(statistics));
      if (!procedures.isEmpty()) {
        results.line("");
        results.table(table(procedures));
      }
    }
    return ExitCode.OK.code();
  }

  static JsonObject json(Statistics statistics) {
    JsonObject json = new JsonObject();
    json.addProperty("rows_estimate", statistics.rows());
    json.addProperty("bytes", statistics.bytes());
    Optional<Statistics.InFlight> inFlight = statistics.inFlight();
    json.addProperty("in_flight", inFlight.map(Statistics.InFlight::all).orElse(null));
    json.addProperty("stuck", inFlight.map(Statistics.InFlight::stuck).orElse(null));
    json.addProperty("unknown", inFlight.map(Statistics.InFlight::unknown).orElse(null));
    json.addProperty(
        "oldest_in_flight_seconds", seconds(inFlight.flatMap(Statistics.InFlight::oldest)));
    json.addProperty("expired", statistics.expired());
    json.addProperty("expired_is_more", statistics.expiredIsMore());
    json.addProperty("sweep_lag_seconds", seconds(statistics.sweepLag()));
    json.addProperty("key_locks", statistics.keyLocks());
    return json;
  }

  private static JsonArray json(List<Statistics.OfProcedure> procedures) {
    JsonArray array = new JsonArray();
    for (Statistics.OfProcedure each : procedures) {
      JsonObject json = new JsonObject();
      json.addProperty("procedure", each.procedure());
      json.addProperty("records", each.records());
      json.addProperty("created_last_hour", each.lastHour());
      json.addProperty("created_last_day", each.lastDay());
      array.add(json);
    }
    return array;
  }

  private static Table table(List<Statistics.OfProcedure> procedures) {
    Table table = new Table("RECORDS", "LAST HOUR", "LAST DAY", "PROCEDURE");
    for (Statistics.OfProcedure each : procedures) {
      table.add(
          number(each.records()),
          number(each.lastHour()),
          number(each.lastDay()),
          each.procedure());
    }
    return table;
  }

  static Map<String, String> fields(Statistics statistics) {
    Map<String, String> fields = new LinkedHashMap<>();
    fields.put("records", "about " + number(statistics.rows()));
    fields.put("size", size(statistics.bytes()) + ", with its indexes");
    statistics
        .inFlight()
        .ifPresentOrElse(
            inFlight -> {
              fields.put("in flight", number(inFlight.all()));
              fields.put("stuck", number(inFlight.stuck()));
              fields.put("unknown", number(inFlight.unknown()));
              fields.put("oldest", inFlight.oldest().map(Stats::age).orElse("none in flight"));
            },
            () ->
                fields.put(
                    "in flight",
                    "not counted, because there is no index: see add_in_flight_index()"));
    fields.put(
        "expired", (statistics.expiredIsMore() ? "more than " : "") + number(statistics.expired()));
    fields.put("sweep lag", statistics.sweepLag().map(DurationText::text).orElse("none"));
    fields.put(
        "key locks",
        number(statistics.keyLocks())
            + ", held by connections: transactional calls, which are not in flight above because"
            + " they have no row before they commit");
    return fields;
  }

  private static String age(Duration age) {
    return "in flight for " + DurationText.text(age);
  }

  private static @org.jspecify.annotations.Nullable Long seconds(Optional<Duration> duration) {
    return duration.map(Duration::toSeconds).orElse(null);
  }

  private static String number(long number) {
    return String.format(Locale.ROOT, "%,d", number);
  }

  private static String size(long bytes) {
    String[] units = {"bytes", "kB", "MB", "GB", "TB"};
    double size = bytes;
    int unit = 0;
    while (size >= 1024 && unit < units.length - 1) {
      size /= 1024;
      unit++;
    }
    return unit == 0
        ? number(bytes) + " bytes"
        : String.format(Locale.ROOT, "%.1f %s", size, units[unit]);
  }
}
