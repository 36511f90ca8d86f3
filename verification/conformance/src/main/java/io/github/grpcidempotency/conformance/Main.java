package io.github.grpcidempotency.conformance;

import io.github.grpcidempotency.conformance.v1.Case;
import io.github.grpcidempotency.conformance.v1.Level;
import io.github.grpcidempotency.conformance.v1.Section;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The program. {@code --help} describes it. */
@Command(
    name = "conformance",
    mixinStandardHelpOptions = true,
    version = "1.0-draft",
    sortOptions = false,
    description = {
      "Tests a server by the specification \"Idempotency keys for gRPC\".",
      "The server implements the service idempotency.conformance.v1.Conformance, whose methods do"
          + " what the request says."
    },
    exitCodeOnExecutionException = 3,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:every case has passed",
      "1:a case has failed",
      "2:the arguments are wrong",
      "3:this program has failed"
    })
public final class Main implements Callable<Integer> {
  @Parameters(
      paramLabel = "host:port",
      arity = "0..1",
      description = "The address of the server. Calls are sent without TLS.")
  private @Nullable String address;

  @Option(
      names = "--level",
      split = ",",
      defaultValue = "CORE,CONCURRENT,RECOVERY",
      description = "The levels to test. Default: ${DEFAULT-VALUE}.")
  private List<Level> levels = List.of();

  @Option(
      names = "--case",
      paramLabel = "NAME",
      description = "Tests this case only. May be repeated.")
  private List<String> names = List.of();

  @Option(
      names = "--explain",
      paramLabel = "CASE",
      description =
          "Runs one case, and prints the sentence that it tests, what was sent, and what came"
              + " back. Without a server, prints the sentence only.")
  private @Nullable String explained;

  @Option(names = "--list", description = "Lists the cases and their sentences.")
  private boolean lists;

  @Option(names = "--json", paramLabel = "FILE", description = "Writes the results to this file.")
  private @Nullable Path json;

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      defaultValue = "60",
      description = "The deadline of a call. Default: ${DEFAULT-VALUE}.")
  private int timeout;

  @Spec private @Nullable CommandSpec command;

  private final Specification specification = Specification.load();
  private final List<Section> sections = Cases.load();

  /** Runs the program, and ends the JVM with its exit code. */
  public static void main(String... arguments) {
    System.exit(commandLine().execute(arguments));
  }

  /** Returns the program with its usual output, for tests. */
  static CommandLine commandLine() {
    return new CommandLine(new Main()).setCaseInsensitiveEnumValuesAllowed(true);
  }

  @Override
  public Integer call() throws IOException {
    if (lists) {
      list();
      return 0;
    }
    if (explained != null) {
      return explain(explained);
    }
    return test();
  }

  private void list() {
    for (Section section : sections) {
      out().println(section.getTitle());
      section
          .getCaseList()
          .forEach(each -> out().printf("  %-8s %s%n", each.getSentence(), each.getName()));
    }
    out().flush();
  }

  private int explain(String name) {
    Case tested = named(name);
    out().printf("%s %s%n%n", tested.getSentence(), sentence(tested));
    if (address == null) {
      out().flush();
      return 0;
    }
    try (Target target = target()) {
      Result result = CaseRun.of(tested, target);
      result.transcript().forEach(out()::println);
      Report.explain(out(), result);
      return result.verdict() == Result.Verdict.FAILED ? 1 : 0;
    }
  }

  private int test() throws IOException {
    List<Case> cases = names.stream().map(this::named).toList();
    List<Section> chosen =
        Cases.of(
            sections,
            each -> cases.isEmpty() ? levels.contains(each.getLevel()) : cases.contains(each));
    if (chosen.isEmpty()) {
      throw wrong("these levels have no case");
    }
    Report report = new Report(specification, out());
    List<Result> results = new ArrayList<>();
    try (Target target = target()) {
      for (Section section : chosen) {
        report.begin(section);
        for (Case tested : section.getCaseList()) {
          Result result = CaseRun.of(tested, target);
          report.add(result);
          results.add(result);
        }
      }
    }
    report.end(results, cases.isEmpty() ? levels : List.of());
    if (json != null) {
      Files.writeString(json, report.json(results, levels));
    }
    return results.stream().anyMatch(each -> each.verdict() == Result.Verdict.FAILED) ? 1 : 0;
  }

  private Case named(String name) {
    return Cases.named(sections, name).orElseThrow(() -> wrong("there is no case " + name));
  }

  private String sentence(Case tested) {
    return specification.sentence(tested.getSentence()).orElseThrow();
  }

  private Target target() {
    return new Target(
        Optional.ofNullable(address).orElseThrow(() -> wrong("name the server: host:port")),
        Duration.ofSeconds(timeout));
  }

  private ParameterException wrong(String why) {
    return new ParameterException(spec().commandLine(), why);
  }

  private PrintWriter out() {
    return spec().commandLine().getOut();
  }

  private CommandSpec spec() {
    return Optional.ofNullable(command).orElseThrow();
  }
}
