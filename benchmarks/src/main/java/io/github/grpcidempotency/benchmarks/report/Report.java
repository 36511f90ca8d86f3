package io.github.grpcidempotency.benchmarks.report;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Collects results, tells how the work goes on, and writes everything down in the end. */
public final class Report {
  private final PrintStream console;
  private final List<Result> results = new ArrayList<>();
  private final Map<String, String> circumstances = new LinkedHashMap<>();

  /** Makes an empty report that talks to a console. */
  public Report(PrintStream console) {
    this.console = console;
  }

  /** Says what is being done now. */
  public void progress(String format, Object... values) {
    console.printf("… " + format + "%n", values);
  }

  /** Notes under which circumstances the results came about. */
  public void circumstance(String name, String value) {
    circumstances.put(name, value);
    console.printf("%s: %s%n", name, value);
  }

  /** Adds a number that was measured in rounds. */
  public void add(String scenario, String variant, int calls, String metric, Rounds rounds) {
    results.add(rounds.result(scenario, variant, calls, metric));
  }

  /** Adds a number that was measured once. */
  public void add(String scenario, String variant, int calls, String metric, double value) {
    results.add(new Result(scenario, variant, calls, metric, value, value, value));
  }

  /** Prints the tables of one scenario. */
  public void print(String scenario) {
    console.println();
    console.println(ResultTable.of(scenario, results));
  }

  /**
   * Writes {@code results.csv}, {@code results.md} and {@code ratios.svg}.
   *
   * @throws IOException if they cannot be written
   */
  public void write(Path directory) throws IOException {
    Files.createDirectories(directory);
    CsvFile.write(directory.resolve("results.csv"), results);
    Files.writeString(directory.resolve("results.md"), MarkdownPage.of(circumstances, results));
    RatioPlot.write(directory.resolve("ratios.svg"), results);
    console.printf("%nWritten to %s: results.md, results.csv, ratios.svg%n", directory);
    console.print(AimsSummary.of(results));
  }
}
