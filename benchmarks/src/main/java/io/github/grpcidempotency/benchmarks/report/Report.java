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
    if (!value.equals(circumstances.put(name, value))) {
      console.printf("%s: %s%n", name, value);
    }
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
   * Writes what one scenario came to as {@code <scenario>.md} and {@code .csv}, and as {@code .svg}
   * where there is a plot of it. What others came to stays as it was.
   *
   * @throws IOException if they cannot be written
   */
  public void write(Path directory, String scenario) throws IOException {
    Files.createDirectories(directory);
    List<Result> own = results.stream().filter(each -> each.scenario().equals(scenario)).toList();
    String name = scenario.replace(' ', '-');
    CsvFile.write(directory.resolve(name + ".csv"), own);
    Files.writeString(
        directory.resolve(name + ".md"), MarkdownPage.of(scenario, circumstances, own));
    RatioPlot.write(directory.resolve(name + ".svg"), own);
    console.printf("Written to %s: %s.md, %s.csv%n%n", directory, name, name);
  }

  /** Says which aims were met. */
  public void sumUp() {
    console.print(AimsSummary.of(results));
  }
}
