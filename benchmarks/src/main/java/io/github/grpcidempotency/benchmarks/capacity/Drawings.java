package io.github.grpcidempotency.benchmarks.capacity;

import io.github.grpcidempotency.benchmarks.report.MagnitudePlot;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/** What the model says, as plots. */
final class Drawings {
  private static final List<String> MARKS =
      Tables.RATES.stream().map(rate -> "%,.0f".formatted(rate)).toList();
  private static final String BELOW = "creates a second";

  private final Model model;
  private final Load load;
  private final Machine machine;

  Drawings(Model model, Load load, Machine machine) {
    this.model = model;
    this.load = load;
    this.machine = machine;
  }

  /** Returns them by the names of their files. */
  Map<String, String> all() {
    Map<String, String> all = new LinkedHashMap<>();
    all.put("scale-cores.svg", byWay("Cores of the database", Estimate::databaseCores, true));
    all.put("scale-log.svg", byWay("GB of log a day", need -> need.walBytesPerDay() / 1e9, true));
    all.put("scale-disk.svg", disk());
    all.put("scale-primaries.svg", byWay("Primaries", Estimate::primaries, false));
    return all;
  }

  private String byWay(String title, ToDoubleFunction<Estimate> value, boolean withBare) {
    Map<String, List<Double>> lines = new LinkedHashMap<>();
    Arrays.stream(Way.values())
        .filter(way -> withBare || way.isRecorded())
        .forEach(way -> lines.put(way.label(), line(load.with(way), value)));
    return MagnitudePlot.of(title, BELOW, MARKS, lines);
  }

  private String disk() {
    Map<String, List<Double>> lines = new LinkedHashMap<>();
    lines.put("answers of 1 KB, a day", disk(1_024, Duration.ofDays(1)));
    lines.put("10 KB, a day", disk(10_240, Duration.ofDays(1)));
    lines.put("1 KB, a week", disk(1_024, Duration.ofDays(7)));
    lines.put("1 KB, an hour", disk(1_024, Duration.ofHours(1)));
    lines.put("100 B, an hour", disk(100, Duration.ofHours(1)));
    return MagnitudePlot.of("GB of records on disk", BELOW, MARKS, lines);
  }

  private List<Double> disk(int answerBytes, Duration retention) {
    return line(
        new Load(
            load.createsPerSecond(),
            load.peakFactor(),
            load.replaysPerCreate(),
            load.way(),
            answerBytes,
            retention,
            load.handler()),
        need -> need.liveBytes() / 1e9);
  }

  private List<Double> line(Load each, ToDoubleFunction<Estimate> value) {
    return Tables.RATES.stream()
        .map(rate -> value.applyAsDouble(model.estimate(each.with(rate), machine)))
        .toList();
  }
}
