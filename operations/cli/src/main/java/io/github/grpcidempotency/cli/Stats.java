package io.github.grpcidempotency.cli;

import com.google.gson.JsonObject;
import io.github.grpcidempotency.admin.Statistics;
import java.time.Duration;
import java.util.LinkedHashMap;
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
        "Prints figures of the table: its size, the number of operations in flight and stuck,"
            + " and the lag of the sweep. Cheap; reads no contents.",
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
    Statistics statistics =
        Database.connect(connection, surroundings).administration().statistics();
    Output results = Output.to(surroundings);
    if (output.isJson()) {
      results.json(json(statistics));
    } else {
      results.fields(fields(statistics));
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
