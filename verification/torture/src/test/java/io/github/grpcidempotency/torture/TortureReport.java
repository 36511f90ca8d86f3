package io.github.grpcidempotency.torture;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** One whole run, with its history written to a file and checked. */
record TortureReport(
    Exercise exercise,
    List<Violation> violations,
    Outages outages,
    Map<Form, Long> lost,
    Path file) {
  private static final Path TARGET = Path.of("target", "torture");

  /** Runs the library as it is. */
  @SuppressWarnings("SystemOut") // whoever waits for a long run reads it
  static TortureReport run(Plan plan, long seed, FaultyPostgres postgres)
      throws InterruptedException {
    if (!ServerJvm.canSkewClocks()) {
      System.out.println("libfaketime is not installed: no server gets a clock that is wrong");
    }
    String title =
        "seed %d for %s on PostgreSQL %s".formatted(seed, plan.length(), postgres.version());
    TortureReport report =
        run(plan, seed, new TortureDatabase(postgres), Optional.empty(), "seed-" + seed, title);
    System.out.printf(
        "%s:%n%s  %-38s %,10d%n  history in %s%n",
        title,
        report.exercise(),
        "violations",
        report.violations().size(),
        report.file().toAbsolutePath());
    report.violations().stream().limit(20).forEach(System.out::println);
    return report;
  }

  static TortureReport run(
      Plan plan,
      long seed,
      TortureDatabase database,
      Optional<Mutant> mutant,
      String name,
      String title)
      throws InterruptedException {
    try (Torture torture = new Torture(plan, seed, database, mutant, log(name))) {
      return report(torture.run(), name, title);
    }
  }

  /** Returns where the output of a run's servers goes. */
  static Path log(String name) {
    try {
      return Files.createDirectories(TARGET).resolve(name + ".log");
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Checks a history, and writes it to a file. */
  static TortureReport report(History history, String name, String title) {
    List<Violation> violations = Checker.check(history);
    Path file = TARGET.resolve(name + ".tsv");
    HistoryFile.write(file, title, history, violations);
    return new TortureReport(
        Exercise.of(history), violations, Outages.of(history), Losses.of(history), file);
  }

  /** Returns how often each rule was broken. */
  Map<Rule, Long> broken() {
    Map<Rule, Long> broken = new TreeMap<>();
    violations.forEach(violation -> broken.merge(violation.rule(), 1L, Long::sum));
    return broken;
  }
}
