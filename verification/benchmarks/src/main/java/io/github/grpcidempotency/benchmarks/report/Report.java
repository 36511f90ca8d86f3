package io.github.grpcidempotency.benchmarks.report;

import com.google.common.primitives.Doubles;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Collects results by scenario, reports progress, and writes the results at the end. */
public final class Report {
  private final PrintStream console = console();
  private final Map<String, String> circumstances = new LinkedHashMap<>();
  private final Map<String, Section> sections = new LinkedHashMap<>();

  /** The variant and the number of calls that a result is about. */
  private record Subject(String variant, int calls) {}

  private record Cell(Subject subject, String metric) {}

  /** Returns the standard output in UTF-8, whatever the encoding of the terminal. */
  public static PrintStream console() {
    return new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
  }

  /** Records a circumstance of the results. */
  public void circumstance(String name, String value) {
    if (!value.equals(circumstances.put(name, value))) {
      console.printf("%s: %s%n", name, value);
    }
  }

  /** Returns the part of a scenario. */
  public Section of(String scenario) {
    return sections.computeIfAbsent(scenario, Section::new);
  }

  /**
   * Prints the sections that have not been written yet, and writes each as {@code <scenario>.md},
   * and as {@code .svg} where there are plots of it. Other files stay.
   *
   * @throws IOException if they cannot be written
   */
  public void writeNew(Path directory) throws IOException {
    Files.createDirectories(directory);
    for (Section section : sections.values()) {
      if (!section.written && !section.rounds.isEmpty()) {
        section.write(directory);
        section.written = true;
      }
    }
  }

  /** The numbers of one scenario. */
  public final class Section {
    private final String scenario;
    private final Map<Cell, List<Double>> rounds = new LinkedHashMap<>();
    private final Map<String, String> notes = new LinkedHashMap<>();
    private boolean written;

    private Section(String scenario) {
      this.scenario = scenario;
    }

    /** Returns a section of its own for a part of this scenario. */
    public Section part(String name) {
      return of(scenario + " " + name);
    }

    /** Prints the current step. */
    @SuppressWarnings("AnnotateFormatMethod") // a dependency for one annotation
    public void progress(String format, Object... values) {
      console.printf("… %s: %s%n", scenario, format.formatted(values));
    }

    /** Adds a measurement of one round; the median of all rounds is the result. */
    public void add(String variant, int calls, String metric, double value) {
      if (Double.isFinite(value)) {
        Cell cell = new Cell(new Subject(variant, calls), metric);
        rounds.computeIfAbsent(cell, first -> new ArrayList<>()).add(value);
      }
    }

    /** Records a circumstance of this scenario only. */
    public void note(String name, String text) {
      notes.put(name, text);
    }

    private List<Result> results() {
      return rounds.entrySet().stream()
          .map(each -> result(each.getKey(), each.getValue()))
          .toList();
    }

    private Result result(Cell cell, List<Double> values) {
      double[] sorted = values.stream().mapToDouble(each -> each).sorted().toArray();
      int middle = sorted.length / 2;
      double median =
          sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
      return new Result(
          scenario,
          cell.subject().variant(),
          cell.subject().calls(),
          cell.metric(),
          median,
          Doubles.min(sorted),
          Doubles.max(sorted));
    }

    private void write(Path directory) throws IOException {
      String name = scenario.replace(' ', '-');
      String table = "# " + scenario + "\n\n" + table();
      console.printf("%n%s%n", table);
      StringBuilder page = new StringBuilder(table);
      page.append("\nWritten by the benchmark program. Median of the rounds (least–most).\n\n");
      circumstances.forEach((what, value) -> page.append("- %s: %s\n".formatted(what, value)));
      notes.forEach((what, value) -> page.append("- %s: %s\n".formatted(what, value)));
      Files.writeString(directory.resolve(name + ".md"), page);
      console.printf("Written to %s: %s.md%n%n", directory, name);
      Plots.write(directory, name, results());
    }

    /** A line for each variant and number of calls, a column for each metric. */
    private String table() {
      Set<Subject> subjects = new LinkedHashSet<>();
      Set<String> metrics = new LinkedHashSet<>();
      for (Cell cell : rounds.keySet()) {
        subjects.add(cell.subject());
        metrics.add(cell.metric());
      }
      List<List<String>> lines = new ArrayList<>();
      List<String> head = new ArrayList<>(List.of("", "calls"));
      head.addAll(metrics);
      lines.add(head);
      for (Subject subject : subjects) {
        List<String> line = new ArrayList<>();
        line.add(subject.variant());
        line.add(subject.calls() == 0 ? "" : Integer.toString(subject.calls()));
        for (String metric : metrics) {
          Cell cell = new Cell(subject, metric);
          List<Double> values = rounds.getOrDefault(cell, List.of());
          line.add(values.isEmpty() ? "" : result(cell, values).toString());
        }
        lines.add(line);
      }
      return MarkdownTable.of(lines);
    }
  }
}
