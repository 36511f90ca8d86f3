package io.github.grpcidempotency.client;

import static org.awaitility.Awaitility.await;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A JVM of its own on this one's class path, to be killed. What it prints can be waited for. */
final class ChildProcess implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final Process process;
  private final List<String> lines = new CopyOnWriteArrayList<>();

  private ChildProcess(Process process) {
    this.process = process;
    Thread reader = new Thread(this::read, "output of process " + process.pid());
    reader.setDaemon(true);
    reader.start();
  }

  static ChildProcess start(Class<?> main, String... arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of("-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"));
    command.add("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn");
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    command.addAll(List.of(arguments));
    try {
      return new ChildProcess(new ProcessBuilder(command).redirectErrorStream(true).start());
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  void awaitLine(String line) {
    await(line)
        .atMost(PATIENCE)
        .pollInterval(Duration.ofMillis(10))
        .until(
            () -> {
              if (!lines.contains(line) && !process.isAlive()) {
                throw new IllegalStateException("the process has ended: " + lines);
              }
              return lines.contains(line);
            });
  }

  /** Kills it with SIGKILL, and waits until it is gone. */
  void kill() {
    Process unused = process.destroyForcibly().onExit().join();
  }

  @Override
  public void close() {
    kill();
  }

  private void read() {
    try (BufferedReader output = process.inputReader()) {
      output.lines().forEach(lines::add);
    } catch (IOException | UncheckedIOException gone) {
      // with its process
    }
  }
}
