package io.github.grpcidempotency.torture;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.base.Stopwatch;
import com.google.common.io.Resources;
import io.github.grpcidempotency.test.Program;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import tlc2.TLC;

/**
 * One run of TLC over one of the models, in a separate process, because TLC's state is static. It
 * starts from the model's configuration, and leaves the changed one in {@code target/model}.
 */
final class ModelCheck {
  private static final Set<String> TEMPORAL = Set.of("RecordStands", "KeyBecomesFree");
  private static final Pattern VIOLATED =
      Pattern.compile("(?:Invariant|Action property) (\\w+) is violated");
  private static final Pattern STATES = Pattern.compile("(\\d+) distinct states found");

  private final String module;
  private final String configuration;
  private final Optional<String> onlyRule;

  /** What TLC found: the rule that does not hold, if any, and how many states it checked. */
  record Result(Optional<String> violated, long states, long seconds) {}

  private ModelCheck(String module, String configuration, Optional<String> onlyRule) {
    this.module = module;
    this.configuration = configuration;
    this.onlyRule = onlyRule;
  }

  /** Returns the model as every build checks it. */
  static ModelCheck of(String module) {
    return new ModelCheck(module, text(module + ".cfg"), Optional.empty());
  }

  /** Returns the same model within another bound. */
  ModelCheck with(String constant, String value) {
    Matcher line = Pattern.compile("(?m)^  " + constant + " = .*$").matcher(configuration);
    if (!line.find()) {
      throw new IllegalArgumentException(module + " has no constant " + constant);
    }
    return new ModelCheck(
        module,
        line.replaceFirst(Matcher.quoteReplacement("  " + constant + " = " + value)),
        onlyRule);
  }

  /** Returns the same model without some of the protocol's rules. */
  ModelCheck without(String... rules) {
    return with(
        "Broken",
        Stream.of(rules).map("\"%s\""::formatted).collect(Collectors.joining(", ", "{", "}")));
  }

  /** Returns a check of one rule alone; that a key becomes free needs time to be fair. */
  ModelCheck only(String rule) {
    boolean fair = rule.equals("KeyBecomesFree");
    String head = configuration.substring(0, configuration.indexOf("INVARIANTS"));
    String checked = (TEMPORAL.contains(rule) ? "PROPERTY " : "INVARIANT ") + rule + "\n";
    return new ModelCheck(
        module,
        fair
            ? head.replace("SPECIFICATION Spec", "SPECIFICATION FairSpec")
                    .replace("SYMMETRY Symmetry\n", "")
                + checked
            : head + checked,
        Optional.of(rule));
  }

  /** Checks a small state space, where most of the time is the start. */
  Result run(String name) {
    return run(
        name,
        "-Xmx512m",
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        "-XX:+UnlockDiagnosticVMOptions",
        "-XX:-BytecodeVerificationRemote");
  }

  /** Checks a large state space. */
  Result runLong(String name) {
    return run(name, "-Xmx2g", "-XX:+UseParallelGC");
  }

  private Result run(String name, String... options) {
    Path directory = Path.of("target", "model", name.replaceAll("\\W+", "-"));
    Stopwatch stopwatch = Stopwatch.createStarted();
    try {
      Path log = prepare(directory);
      Process process =
          Program.JAVA
              .process(command(options))
              .directory(directory.toFile())
              .redirectErrorStream(true)
              .redirectOutput(log.toFile())
              .start();
      if (!process.waitFor(30, TimeUnit.MINUTES)) {
        process.destroyForcibly();
        throw new AssertionError("TLC does not end: " + log.toAbsolutePath());
      }
      return result(process.exitValue(), Files.readString(log), stopwatch);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    } catch (InterruptedException interrupted) {
      throw new AssertionError(interrupted);
    }
  }

  private Path prepare(Path directory) throws IOException {
    Files.createDirectories(directory);
    Files.writeString(directory.resolve(module + ".tla"), text(module + ".tla"));
    Files.writeString(directory.resolve(module + ".cfg"), configuration);
    return directory.resolve("tlc.log");
  }

  private List<String> command(String... options) {
    List<String> command = new ArrayList<>(List.of(options));
    command.addAll(List.of("-cp", jar(), TLC.class.getName()));
    // A call that is over takes no step; that is not a deadlock.
    command.addAll(List.of("-deadlock", "-workers", "2", "-metadir", "states", "-cleanup", module));
    return command;
  }

  private Result result(int exitValue, String log, Stopwatch stopwatch) {
    Matcher states = STATES.matcher(log);
    long found = 0;
    while (states.find()) {
      found = Long.parseLong(states.group(1));
    }
    Matcher violated = VIOLATED.matcher(log);
    Optional<String> rule =
        violated.find()
            ? Optional.of(violated.group(1))
            : log.contains("Temporal properties were violated") ? onlyRule : Optional.empty();
    if (rule.isEmpty() && exitValue != 0) {
      throw new AssertionError("TLC failed:\n" + log);
    }
    return new Result(rule, found, stopwatch.elapsed().toSeconds());
  }

  private static String jar() {
    try {
      return Path.of(TLC.class.getProtectionDomain().getCodeSource().getLocation().toURI())
          .toString();
    } catch (URISyntaxException impossible) {
      throw new AssertionError(impossible);
    }
  }

  private static String text(String file) {
    try {
      return Resources.toString(Resources.getResource("model/" + file), UTF_8);
    } catch (IOException missing) {
      throw new UncheckedIOException(missing);
    }
  }
}
