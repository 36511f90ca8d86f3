package io.github.grpcidempotency.benchmarks.capacity;

import io.github.grpcidempotency.benchmarks.report.MarkdownTable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;

/** What the model says, as tables. */
final class Tables {
  static final List<Double> RATES = List.of(10.0, 100.0, 1e3, 1e4, 1e5, 1e6);

  private final Model model;
  private final Calibration calibration;
  private final List<Check> checks;
  private final Load load;
  private final Machine machine;

  /** Takes the load of which the rate is changed, and the machine. */
  Tables(Measurements measurements, Load load, Machine machine) {
    this.calibration = new Calibration(measurements);
    this.model = new Model(calibration);
    this.checks = Checks.of(measurements, calibration);
    this.load = load;
    this.machine = machine;
  }

  /** Returns all, in the order in which they are read. */
  Map<String, String> all() {
    Map<String, String> all = new LinkedHashMap<>();
    all.put("needs by rate", needs(RATES));
    all.put("upkeep by rate", upkeep(RATES));
    all.put("disk", disk());
    all.put("limits", limits());
    all.put("ways", ways());
    all.put("cores by way", byWay(each -> Quantity.of(each.databaseCores())));
    all.put("primaries by way", byWay(each -> "%,d".formatted(each.primaries())));
    all.put("checks", checks());
    all.put("constants", constants());
    return all;
  }

  String needs(List<Double> rates) {
    return table(
        List.of(
            "creates/s",
            "database cores",
            "service cores",
            "connections: busy, in pools",
            "log, a second at the peak",
            "log, a day",
            "records on disk",
            "primaries",
            "gives way first"),
        rates,
        (rate, need) ->
            List.of(
                Quantity.of(need.databaseCores()),
                Quantity.of(need.serviceCores()),
                "%s, %,d × %,d"
                    .formatted(
                        Quantity.of(need.busyConnections()), need.servers(), need.poolSize()),
                Quantity.ofBytes(need.walBytesPerCreate() * load.with(rate).atPeak()),
                Quantity.ofBytes(need.walBytesPerDay()),
                Quantity.ofBytes(need.liveBytes()),
                "%,d".formatted(need.primaries()),
                need.first().label()));
  }

  String upkeep(List<Double> rates) {
    return table(
        List.of(
            "creates/s",
            "a primary's",
            "sweep",
            "records in it",
            "vacuum every",
            "it reads",
            "it runs, by the settings",
            "freeze every",
            "log to replicas, a second",
            "their replay, of one process"),
        rates,
        (rate, need) -> {
          double each = rate / need.primaries();
          return List.of(
              Quantity.of(each),
              Quantity.ofSeconds(need.sweepSeconds()),
              Quantity.of(each * need.sweepSeconds()),
              need.upkeep().map(run -> Quantity.ofSeconds(run.seconds())).orElse("–"),
              need.upkeep().map(run -> Quantity.ofBytes(run.bytes())).orElse("–"),
              need.upkeep().map(run -> Quantity.ofSeconds(run.runSeconds())).orElse("–"),
              Quantity.ofSeconds(need.freezeSeconds()),
              Quantity.ofBytes(
                  need.walBytesPerCreate() * load.with(each).atPeak() * machine.replicas()),
              percent(
                  model.shares(load.with(each), machine).getOrDefault(Resource.LOG_REPLAY, 0.0)
                      * machine.headroom()));
        });
  }

  private interface Cells {
    List<String> of(double rate, Estimate need);
  }

  private String table(List<String> head, List<Double> rates, Cells cells) {
    List<List<String>> lines = new ArrayList<>(List.of(head));
    for (double rate : rates) {
      List<String> line = new ArrayList<>(List.of("%,.0f".formatted(rate)));
      line.addAll(cells.of(rate, model.estimate(load.with(rate), machine)));
      lines.add(line);
    }
    return MarkdownTable.of(lines);
  }

  /** Returns how many creates a second use up each resource of a primary. */
  private String limits() {
    Map<String, Load> loads = new LinkedHashMap<>();
    String asked =
        "answers of %,d B, %s"
            .formatted(
                load.answerBytes(), Quantity.ofSeconds((double) load.retention().toSeconds()));
    loads.put(asked, load);
    loads.put("for an hour", lasting(load, load.answerBytes(), Duration.ofHours(1)));
    loads.put("for a week", lasting(load, load.answerBytes(), Duration.ofDays(7)));
    loads.put("ten times the answer", lasting(load, load.answerBytes() * 10, load.retention()));
    List<List<String>> lines = new ArrayList<>();
    List<String> head = new ArrayList<>(List.of(""));
    head.addAll(loads.keySet());
    lines.add(head);
    Map<Resource, Double> first = model.limits(load, machine);
    List<Resource> order =
        Arrays.stream(Resource.values())
            .filter(first::containsKey)
            .sorted((one, other) -> Double.compare(limit(first, one), limit(first, other)))
            .toList();
    for (Resource resource : order) {
      List<String> line = new ArrayList<>(List.of(resource.label()));
      for (Load each : loads.values()) {
        Map<Resource, Double> limits = model.limits(each, machine);
        double limit = limit(limits, resource);
        boolean least = limits.values().stream().allMatch(other -> other >= limit);
        line.add(least ? "**" + Quantity.of(limit) + "**" : Quantity.of(limit));
      }
      lines.add(line);
    }
    return MarkdownTable.of(lines);
  }

  private static double limit(Map<Resource, Double> limits, Resource resource) {
    return limits.getOrDefault(resource, Double.POSITIVE_INFINITY);
  }

  /** Returns what the records of a thousand creates a second take. */
  private String disk() {
    List<Integer> answers = List.of(100, 1_024, 10_240);
    List<List<String>> lines = new ArrayList<>();
    List<String> head = new ArrayList<>(List.of("records live"));
    answers.forEach(bytes -> head.add("answers of %,d B".formatted(bytes)));
    lines.add(head);
    Map<String, Duration> retentions = new LinkedHashMap<>();
    retentions.put("an hour", Duration.ofHours(1));
    retentions.put("a day", Duration.ofDays(1));
    retentions.put("a week", Duration.ofDays(7));
    retentions.forEach(
        (name, time) -> {
          List<String> line = new ArrayList<>(List.of(name));
          answers.forEach(
              bytes ->
                  line.add(
                      Quantity.ofBytes(model.liveBytes(lasting(load.with(1_000), bytes, time)))));
          lines.add(line);
        });
    return MarkdownTable.of(lines);
  }

  private static Load lasting(Load load, int answerBytes, Duration retention) {
    return new Load(
        load.createsPerSecond(),
        load.peakFactor(),
        load.replaysPerCreate(),
        load.way(),
        answerBytes,
        retention,
        load.handler());
  }

  /** Returns what one create costs in each way, and what one primary takes. */
  private String ways() {
    List<List<String>> lines = new ArrayList<>();
    lines.add(
        List.of(
            "",
            "database, µs",
            "log, bytes",
            "round trips",
            "connection held, ms",
            "transaction ids",
            "dead rows",
            "one primary's cores take",
            "all of one primary takes"));
    for (Way way : Way.values()) {
      Load each = load.with(way);
      Calibration.Call call = calibration.of(way);
      lines.add(
          List.of(
              way.label(),
              "%,.0f".formatted(model.databaseMicros(each)),
              "%,.0f".formatted(Quantity.rounded(model.walPerCreate(each))),
              "%.0f".formatted(call.roundTrips()),
              String.format(
                  Locale.ROOT,
                  "%.1f",
                  calibration.holdMicros(way, machine.networkMicros(), machine.commitMicros())
                      / 1e3),
              "%.0f".formatted(call.transactionIds()),
              Integer.toString(way.deadRows()),
              Quantity.of(limit(model.limits(each, machine), Resource.CORES)),
              Quantity.of(model.estimate(each, machine).perPrimary())));
    }
    return MarkdownTable.of(lines);
  }

  private String byWay(Function<Estimate, String> cell) {
    List<List<String>> lines = new ArrayList<>();
    List<String> head = new ArrayList<>(List.of("creates/s"));
    RATES.forEach(rate -> head.add("%,.0f".formatted(rate)));
    lines.add(head);
    for (Way way : Way.values()) {
      List<String> line = new ArrayList<>(List.of(way.label()));
      for (double rate : RATES) {
        line.add(cell.apply(model.estimate(load.with(way).with(rate), machine)));
      }
      lines.add(line);
    }
    return MarkdownTable.of(lines);
  }

  private String checks() {
    List<List<String>> lines = new ArrayList<>();
    lines.add(List.of("", "predicted", "measured", "off by", "tolerated"));
    for (Check check : checks) {
      lines.add(
          List.of(
              check.name(),
              number(check.predicted()) + " " + check.unit(),
              number(check.measured()) + " " + check.unit(),
              String.format(Locale.ROOT, "%+.1f %%", check.error() * 100),
              percent(check.tolerance())));
    }
    return MarkdownTable.of(lines);
  }

  private String constants() {
    List<List<String>> lines = new ArrayList<>();
    lines.add(List.of("", "", "origin", "source"));
    List<Constant> constants = new ArrayList<>(calibration.constants());
    constants.addAll(Model.CONSTANTS);
    for (Constant constant : constants) {
      lines.add(
          List.of(
              constant.name(),
              (number(constant.value()) + " " + constant.unit()).strip(),
              constant.origin().name().toLowerCase(Locale.ROOT),
              constant.source()));
    }
    return MarkdownTable.of(lines);
  }

  private static String number(double value) {
    boolean isWhole = value == Math.rint(value);
    return String.format(
        Locale.ROOT, isWhole || value >= 100 ? "%,.0f" : value >= 10 ? "%.1f" : "%.2f", value);
  }

  private static String percent(double share) {
    double percents = share * 100;
    return percents > 0 && percents < 0.1 ? "< 0.1 %" : Quantity.of(percents) + " %";
  }
}
