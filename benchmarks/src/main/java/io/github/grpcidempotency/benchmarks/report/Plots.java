package io.github.grpcidempotency.benchmarks.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/** The plots of a scenario that compares variants, or partitions with one table. */
final class Plots {
  private static final String RATIO = "throughput ratio";
  private static final String OF_ONE_TABLE = "times one table";
  private static final String THROUGHPUT = "calls/s";
  private static final List<String> PERCENTILES = List.of("p50", "p90", "p99", "p99.9");

  private final String scenario;
  private final List<Result> results;
  private final Map<String, Kind> kinds;
  private final Palette palette;
  private final List<Integer> calls;

  private Plots(String scenario, List<Result> results, Map<String, Kind> kinds) {
    this.scenario = scenario;
    this.results = results;
    this.kinds = kinds;
    this.palette = new Palette(kinds);
    this.calls = List.copyOf(new TreeSet<>(results.stream().map(Result::calls).toList()));
  }

  /** Writes them, if the results are such; the file names begin with the scenario's. */
  static void write(Path directory, String name, List<Result> results, Map<String, Kind> kinds)
      throws IOException {
    if (results.stream().anyMatch(result -> result.metric().equals(OF_ONE_TABLE))) {
      Files.writeString(directory.resolve(name + ".svg"), besideOneTable(results, kinds));
      return;
    }
    if (results.stream().noneMatch(result -> result.metric().equals(THROUGHPUT))) {
      return;
    }
    Plots plots = new Plots(results.get(0).scenario(), results, kinds);
    Files.writeString(directory.resolve(name + ".svg"), plots.ratios());
    Files.writeString(directory.resolve(name + "-latency.svg"), plots.latencies());
    if (plots.calls.size() > 1) {
      Files.writeString(directory.resolve(name + "-throughput.svg"), plots.throughput());
    }
  }

  private static String besideOneTable(List<Result> results, Map<String, Kind> kinds) {
    return BarPlot.of(
        "One plain table = 1; %s".formatted(results.get(0).scenario()),
        results.stream()
            .filter(result -> result.metric().equals(OF_ONE_TABLE))
            .filter(result -> !result.variant().contains("one table"))
            .toList(),
        new Palette(kinds));
  }

  private String ratios() {
    int shown = shownCalls();
    return BarPlot.of(
        "Throughput, bare handler = 1; %s, %s".formatted(scenario, atOnce(shown)),
        results.stream()
            .filter(result -> result.metric().equals(RATIO) && result.calls() == shown)
            .toList(),
        palette);
  }

  private String throughput() {
    List<LinePlot.Line> lines = new ArrayList<>();
    for (String variant : creates()) {
      lines.add(
          new LinePlot.Line(
              variant, calls.stream().map(each -> value(variant, each, THROUGHPUT)).toList()));
    }
    return LinePlot.of(
        "Calls per second; " + scenario,
        "calls at once",
        calls.stream().map(each -> Integer.toString(each)).toList(),
        lines,
        LinePlot.linearAxis(most(lines)),
        palette);
  }

  private String latencies() {
    int shown = shownCalls();
    List<LinePlot.Line> lines = new ArrayList<>();
    for (String variant : creates()) {
      lines.add(
          new LinePlot.Line(
              variant,
              PERCENTILES.stream().map(each -> value(variant, shown, each + " (ms)")).toList()));
    }
    double least =
        lines.stream().flatMap(line -> line.values().stream()).mapToDouble(v -> v).min().orElse(1);
    return LinePlot.of(
        "Latency in milliseconds; %s, %s".formatted(scenario, atOnce(shown)),
        "of all calls, so many are as fast",
        PERCENTILES,
        lines,
        LinePlot.logarithmicAxis(least, most(lines)),
        palette);
  }

  /** Returns the variants that create with new keys, but for those that only bound them. */
  private List<String> creates() {
    return kinds.entrySet().stream()
        .filter(each -> each.getValue() != Kind.REPLAY && each.getValue() != Kind.LIMIT)
        .map(Map.Entry::getKey)
        .filter(variant -> results.stream().anyMatch(each -> each.variant().equals(variant)))
        .toList();
  }

  /** Returns as many calls as an aim is about, if they were measured, and else the most. */
  private int shownCalls() {
    Optional<Integer> aimed =
        calls.stream()
            .filter(
                each ->
                    Aim.ALL.stream()
                        .anyMatch(aim -> aim.scenario().equals(scenario) && aim.calls() == each))
            .findFirst();
    return aimed.orElse(calls.get(calls.size() - 1));
  }

  private double value(String variant, int atOnce, String metric) {
    return results.stream()
        .filter(
            result ->
                result.variant().equals(variant)
                    && result.calls() == atOnce
                    && result.metric().equals(metric))
        .findFirst()
        .orElseThrow()
        .value();
  }

  private static double most(List<LinePlot.Line> lines) {
    return lines.stream()
        .flatMap(line -> line.values().stream())
        .mapToDouble(v -> v)
        .max()
        .orElse(1);
  }

  private static String atOnce(int calls) {
    return calls == 1 ? "1 call at a time" : calls + " calls at once";
  }
}
