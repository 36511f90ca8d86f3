package io.github.grpcidempotency.example;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The program in a separate process, which can be stopped and killed. */
final class ProgramProcess implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofMinutes(3);
  private static final Pattern LISTENING = Pattern.compile("^listening on port (\\d+)$");
  private static final Pattern METRICS = Pattern.compile("metrics are at (\\S+)");

  private final Process process;
  private final Path out;
  private final Path err;

  private ProgramProcess(Process process, Path out, Path err) {
    this.process = process;
    this.out = out;
    this.err = err;
  }

  static ProgramProcess start(String... arguments) {
    try {
      Path out = Files.createTempFile("program", ".out");
      Path err = Files.createTempFile("program", ".err");
      List<String> command = new ArrayList<>();
      command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
      // It lives for seconds, of which the verification of its classes is one.
      command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
      command.addAll(List.of("-XX:+UnlockDiagnosticVMOptions", "-XX:-BytecodeVerificationRemote"));
      command.addAll(
          List.of("-cp", System.getProperty("java.class.path"), Example.class.getName()));
      command.addAll(List.of(arguments));
      Process process =
          new ProcessBuilder(command)
              .redirectOutput(out.toFile())
              .redirectError(err.toFile())
              .start();
      return new ProgramProcess(process, out, err);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Waits until the server says that it listens, and returns where. */
  int awaitPort() {
    await().atMost(PATIENCE).until(() -> port().isPresent() || !process.isAlive());
    return port().orElseThrow(() -> new AssertionError("no server, but: " + err()));
  }

  private Optional<Integer> port() {
    return out().stream()
        .map(LISTENING::matcher)
        .filter(matcher -> matcher.find())
        .map(matcher -> Integer.valueOf(matcher.group(1)))
        .findFirst();
  }

  /** Returns what Prometheus gets from the server. */
  String metrics() throws IOException {
    URI address =
        out().stream()
            .map(METRICS::matcher)
            .filter(Matcher::matches)
            .map(matcher -> URI.create(matcher.group(1)))
            .findFirst()
            .orElseThrow();
    try (InputStream samples = address.toURL().openStream()) {
      return new String(samples.readAllBytes(), UTF_8);
    }
  }

  int awaitExit() {
    try {
      assertThat(process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
      return process.exitValue();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** As Ctrl-C and {@code docker stop} do. */
  void terminate() {
    process.destroy();
  }

  /** As {@code kill -9} does. */
  void kill() {
    process.destroyForcibly();
    awaitExit();
  }

  List<String> out() {
    return lines(out);
  }

  List<String> err() {
    return lines(err);
  }

  private static List<String> lines(Path file) {
    try {
      return Files.readAllLines(file, UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    process.destroy();
    awaitExit();
  }
}
