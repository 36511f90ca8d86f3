package io.github.grpcidempotency.benchmarks.capacity;

import io.github.grpcidempotency.benchmarks.report.MarkdownTable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Formats the results of the model as the tables of a page. */
final class ScalePage {
  private static final List<Double> RATES = List.of(10.0, 100.0, 1e3, 1e4, 1e5, 1e6);
  private static final Duration HOUR = Duration.ofHours(1);
  private static final Duration WEEK = Duration.ofDays(7);

  /** A table is between {@code <!-- capacity: name -->} and {@code <!-- end -->}. */
  private static final Pattern PLACE =
      Pattern.compile("(?s)(<!-- capacity: ([a-z ]+) -->\n\n).*?<!-- end -->");

  private final Model model;
  private final Load load;

  ScalePage(Model model, Load load) {
    this.model = model;
    this.load = load;
  }

  /**
   * Returns the page with the tables of this model.
   *
   * @throws IllegalArgumentException if the page has another set of tables
   */
  String in(String page) {
    Map<String, String> left = tables();
    String written =
        PLACE
            .matcher(page)
            .replaceAll(
                place -> {
                  String table = left.remove(place.group(2));
                  if (table == null) {
                    throw new IllegalArgumentException("there is no table " + place.group(2));
                  }
                  return Matcher.quoteReplacement(place.group(1) + table + "\n<!-- end -->");
                });
    if (!left.isEmpty()) {
      throw new IllegalArgumentException("the page has no place for " + left.keySet());
    }
    return written;
  }

  Map<String, String> tables() {
    Map<String, String> all = new LinkedHashMap<>();
    all.put("needs by rate", needs(RATES));
    all.put("upkeep by rate", upkeep(RATES));
    all.put("disk", disk());
    all.put("limits", limits());
    all.put("ways", ways());
    all.put("checks", checks());
    return all;
  }

  String needs(List<Double> rates) {
    return table(
        "creates/s | database cores | service cores | connections: busy, in pools"
            + " | log, a second at the peak | log, a day | records on disk | primaries"
            + " | used up first",
        rates.stream().map(load::at).toList(),
        each -> {
          double busy = model.busyConnections(each);
          int servers = model.servers(each);
          double log = model.logBytes(each) * each.rate();
          return List.of(
              "%,.0f".formatted(each.rate()),
              Quantity.of(model.databaseCores(each)),
              Quantity.of(model.serviceCores(each)),
              "%s, %,d × %,.0f"
                  .formatted(Quantity.of(busy), servers, Math.ceil(Model.pool(busy / servers))),
              Quantity.ofBytes(log * Model.PEAK),
              Quantity.ofBytes(log * 86_400),
              Quantity.ofBytes(model.liveBytes(each)),
              "%,d".formatted(model.primaries(each)),
              model.firstLimit(each).getKey());
        });
  }

  String upkeep(List<Double> rates) {
    return table(
        "creates/s | a primary's | sweep | records in it | vacuum reads"
            + " | freeze every | log to replicas, a second"
            + " | their replay, of one process",
        rates.stream().map(load::at).toList(),
        each -> {
          Load share = load.at(each.rate() / model.primaries(each));
          double sweep = Model.sweepSeconds(share.rate());
          double log = model.logBytes(share) * share.rate() * Model.PEAK;
          return List.of(
              "%,.0f".formatted(each.rate()),
              Quantity.of(share.rate()),
              Quantity.ofSeconds(sweep),
              Quantity.of(share.rate() * sweep),
              Quantity.ofBytes(model.vacuumBytes(share)),
              Quantity.ofSeconds(model.freezeSeconds(share)),
              Quantity.ofBytes(log * Model.REPLICAS),
              Quantity.percent(log / model.replayedBytesPerSecond()));
        });
  }

  /** Returns the disk space of the records of a thousand creates a second. */
  private String disk() {
    return table(
        "records live | answers of 100 B | answers of 1,024 B | answers of 10,240 B",
        List.of(HOUR, Duration.ofDays(1), WEEK),
        time -> {
          List<String> line = new ArrayList<>();
          line.add(time.equals(HOUR) ? "an hour" : time.equals(WEEK) ? "a week" : "a day");
          for (int answer : List.of(100, 1_024, 10_240)) {
            line.add(Quantity.ofBytes(model.liveBytes(load.at(1_000).keeping(answer, time))));
          }
          return line;
        });
  }

  /** Returns how many creates a second exhaust each resource of a primary. */
  private String limits() {
    List<Map<String, Double>> columns =
        List.of(
            model.limits(load),
            model.limits(load.keeping(load.answerBytes(), HOUR)),
            model.limits(load.keeping(load.answerBytes(), WEEK)),
            model.limits(load.keeping(10 * load.answerBytes(), load.retention())));
    return table(
        " | answers of %,d B, %s | for an hour | for a week | ten times the answer"
            .formatted(
                load.answerBytes(), Quantity.ofSeconds((double) load.retention().toSeconds())),
        columns.get(0).entrySet().stream().sorted(Map.Entry.comparingByValue()).toList(),
        row -> {
          List<String> line = new ArrayList<>(List.of(row.getKey()));
          for (Map<String, Double> column : columns) {
            double limit = column.getOrDefault(row.getKey(), Double.NaN);
            boolean first = column.values().stream().allMatch(other -> other >= limit);
            line.add((first ? "**%s**" : "%s").formatted(Quantity.of(limit)));
          }
          return line;
        });
  }

  /** Returns the cost of one create in each way, and the capacity of one primary. */
  private String ways() {
    return table(
        " | database, µs | log, bytes | round trips | connection held, ms | transaction ids"
            + " | dead rows | one primary's cores take | all of one primary takes",
        Model.WAYS,
        way -> {
          Load each = load.by(way);
          return List.of(
              way.label(),
              "%,.0f".formatted(model.databaseMicros(way)),
              Quantity.of(model.logBytes(each)),
              "%.0f".formatted(model.counted(way, "round trips")),
              String.format(Locale.ROOT, "%.1f", model.heldMicros(way) / 1e3),
              "%.0f".formatted(model.transactionIds(way)),
              Integer.toString(each.deadRows()),
              Quantity.of(model.limits(each).getOrDefault("cores", Double.NaN)),
              Quantity.of(model.firstLimit(each).getValue()));
        });
  }

  private String checks() {
    return table(
        " | predicted | measured | off by | tolerated",
        Check.of(model),
        check ->
            List.of(
                check.name(),
                number(check.predicted()) + " " + check.unit(),
                number(check.measured()) + " " + check.unit(),
                String.format(Locale.ROOT, "%+.1f %%", check.error() * 100),
                Quantity.percent(check.tolerance())));
  }

  private static <T> String table(String head, List<T> rows, Function<T, List<String>> cells) {
    List<List<String>> lines = new ArrayList<>();
    lines.add(List.of(head.split(" ?\\| ?", -1)));
    rows.forEach(row -> lines.add(cells.apply(row)));
    return MarkdownTable.of(lines);
  }

  private static String number(double value) {
    boolean isWhole = value == Math.rint(value);
    return String.format(
        Locale.ROOT, isWhole || value >= 100 ? "%,.0f" : value >= 10 ? "%.1f" : "%.2f", value);
  }
}
