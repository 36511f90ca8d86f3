package io.github.grpcidempotency.benchmarks.report;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** Collects results, tells how the work goes on, and writes everything down in the end. */
public final class Report {
  private final PrintStream console;
  private final List<Result> results = new ArrayList<>();
  private final Map<String, String> circumstances = new LinkedHashMap<>();
  private final Map<String, String> notes = new LinkedHashMap<>();
  private final Map<String, Kind> kinds = new LinkedHashMap<>();
  private int written;

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

  /** Says who answers the calls of a variant. */
  public void kind(String variant, Kind kind) {
    kinds.put(variant, kind);
  }

  /** Notes what holds for one scenario only. */
  public void note(String scenario, String text) {
    notes.put(scenario, text);
  }

  /**
   * Prints what has been added since the last time, and writes each scenario of it as {@code
   * <scenario>.md} and {@code .csv}, and as {@code .svg} where there are plots of it. What others
   * came to stays as it was.
   *
   * @throws IOException if they cannot be written
   */
  public void writeNew(Path directory) throws IOException {
    Files.createDirectories(directory);
    Set<String> scenarios =
        results.subList(written, results.size()).stream()
            .map(Result::scenario)
            .collect(Collectors.toCollection(LinkedHashSet::new));
    written = results.size();
    for (String scenario : scenarios) {
      write(directory, scenario);
    }
  }

  private void write(Path directory, String scenario) throws IOException {
    List<Result> own = results.stream().filter(each -> each.scenario().equals(scenario)).toList();
    console.printf("%n%s%n", ResultTable.of(scenario, own));
    String name = scenario.replace(' ', '-');
    CsvFile.write(directory.resolve(name + ".csv"), own);
    Map<String, String> around = new LinkedHashMap<>(circumstances);
    Optional.ofNullable(notes.get(scenario)).ifPresent(note -> around.put("network", note));
    Files.writeString(directory.resolve(name + ".md"), MarkdownPage.of(scenario, around, own));
    console.printf("Written to %s: %s.md, %s.csv%n%n", directory, name, name);
    Plots.write(directory, name, own, kinds);
  }

  /** Says which aims were met. */
  public void sumUp() {
    console.print(AimsSummary.of(results));
  }
}
