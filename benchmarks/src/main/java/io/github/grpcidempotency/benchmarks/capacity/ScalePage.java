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

/** What the model says, as the tables of a page. */
final class ScalePage {
  private static final List<Double> RATES = List.of(10.0, 100.0, 1e3, 1e4, 1e5, 1e6);
  private static final Duration HOUR = Duration.ofHours(1);
  private static final Duration WEEK = Duration.ofDays(7);

  /** A table stands between {@code <!-- capacity: name -->} and {@code <!-- end -->}. */
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
    all.put("cores by way", byWay(each -> Quantity.of(model.databaseCores(each))));
    all.put("primaries by way", byWay(each -> "%,d".formatted(model.primaries(each))));
    all.put("checks", checks());
    all.put("constants", constants());
    return all;
  }

  String needs(List<Double> rates) {
    return table(
        "creates/s | database cores | service cores | connections: busy, in pools"
            + " | log, a second at the peak | log, a day | records on disk | primaries"
            + " | gives way first",
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
        "creates/s | a primary's | sweep | records in it | vacuum every | it reads"
            + " | it runs, by the settings | freeze every | log to replicas, a second"
            + " | their replay, of one process",
        rates.stream().map(load::at).toList(),
        each -> {
          Load share = load.at(each.rate() / model.primaries(each));
          double sweep = Model.sweepSeconds(share.rate());
          Model.Vacuum vacuum = model.vacuum(share, Model.COST_OF_MISS);
          double log = model.logBytes(share) * share.rate() * Model.PEAK;
          return List.of(
              "%,.0f".formatted(each.rate()),
              Quantity.of(share.rate()),
              Quantity.ofSeconds(sweep),
              Quantity.of(share.rate() * sweep),
              Quantity.ofSeconds(vacuum.everySeconds()),
              Quantity.ofBytes(vacuum.bytes()),
              Quantity.ofSeconds(vacuum.runSeconds()),
              Quantity.ofSeconds(model.freezeSeconds(share)),
              Quantity.ofBytes(log * Model.REPLICAS),
              Quantity.percent(log / model.replayedBytesPerSecond()));
        });
  }

  /** Returns what the records of a thousand creates a second take. */
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

  /** Returns how many creates a second use up each of what a primary has. */
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

  /** Returns what one create costs in each way, and what one primary takes. */
  private String ways() {
    return table(
        " | database, µs | log, bytes | round trips | connection held, ms | transaction ids"
            + " | dead rows | one primary's cores take | all of one primary takes",
        List.of(Way.values()),
        way -> {
          Load each = load.by(way);
          return List.of(
              way.label(),
              "%,.0f".formatted(model.databaseMicros(way)),
              Quantity.of(model.logBytes(each)),
              "%.0f".formatted(model.counted(way, "round trips")),
              String.format(Locale.ROOT, "%.1f", model.heldMicros(way) / 1e3),
              "%.0f".formatted(model.transactionIds(way)),
              Integer.toString(way.deadRows()),
              Quantity.of(model.limits(each).getOrDefault("cores", Double.NaN)),
              Quantity.of(model.firstLimit(each).getValue()));
        });
  }

  private String byWay(Function<Load, String> cell) {
    String rates = String.join(" | ", RATES.stream().map("%,.0f"::formatted).toList());
    return table(
        "creates/s | " + rates,
        List.of(Way.values()),
        way -> {
          List<String> line = new ArrayList<>(List.of(way.label()));
          RATES.forEach(rate -> line.add(cell.apply(load.by(way).at(rate))));
          return line;
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

  private String constants() {
    return table(
        " | | ",
        List.of(
            List.of("entries of a record in four indexes", bytes(model.indexBytes()), "measured"),
            List.of("sweep of a record", micros(model.sweepMicros()), "measured"),
            List.of("vacuum of a dead row", micros(model.vacuumMicros()), "measured"),
            List.of(
                "replay of the log in one process",
                Quantity.ofBytes(model.replayedBytesPerSecond()) + " a second",
                "measured"),
            List.of("table in its steady state, of a packed one", number(model.bloat), "computed"),
            List.of(
                "processor time of a call at 4 calls, of that at 16",
                number(model.idleFactor),
                "computed"),
            List.of(
                "a flush of the log, and what else a call waits for",
                micros(model.flushMicros),
                "computed"),
            List.of("share of two cores that 16 calls can use", number(model.usable), "computed"),
            List.of("a thread wakes late by", micros(Model.WAKE_MICROS), "measured"),
            List.of("speed of n cores, of that of one", "n", "assumed"),
            List.of("writes of a row's page by checkpoints", number(Model.PAGE_WRITES), "assumed"),
            List.of("cores of a server of the service", number(Model.SERVER_CORES), "assumed"),
            List.of("room in a pool", number(Model.POOL_DEVIATIONS) + " √ busy", "assumed"),
            List.of("records in one sweep, at most", number(Model.RECORDS_PER_SWEEP), "assumed"),
            List.of("autovacuum_freeze_max_age", number(Model.FREEZE_AGE), "PostgreSQL's"),
            List.of("oldest transaction id", number(Model.LONGEST_AGE), "PostgreSQL's")),
        line -> line);
  }

  private static <T> String table(String head, List<T> rows, Function<T, List<String>> cells) {
    List<List<String>> lines = new ArrayList<>();
    lines.add(List.of(head.split(" ?\\| ?", -1)));
    rows.forEach(row -> lines.add(cells.apply(row)));
    return MarkdownTable.of(lines);
  }

  private static String bytes(double value) {
    return number(value) + " B";
  }

  private static String micros(double value) {
    return number(value) + " µs";
  }

  private static String number(double value) {
    boolean isWhole = value == Math.rint(value);
    return String.format(
        Locale.ROOT, isWhole || value >= 100 ? "%,.0f" : value >= 10 ? "%.1f" : "%.2f", value);
  }
}
