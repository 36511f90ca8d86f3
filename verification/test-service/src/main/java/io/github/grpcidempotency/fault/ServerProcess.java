package io.github.grpcidempotency.fault;

import io.github.grpcidempotency.test.Program;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.awaitility.Awaitility;

/**
 * A separate JVM with the class path of this one. Unlike a thread, it can be killed or stopped.
 * Tests can wait for its output.
 */
public final class ServerProcess implements AutoCloseable {
  private static final Duration MAX_WAIT = Duration.ofSeconds(90);

  /**
   * Verifying the classes, which the compiler has just written, would take a third of the start-up
   * time.
   */
  private static final List<String> UNVERIFIED =
      List.of("-XX:+UnlockDiagnosticVMOptions", "-XX:-BytecodeVerificationRemote");

  private final Process process;
  private final List<String> lines = new CopyOnWriteArrayList<>();

  private ServerProcess(Process process) {
    this.process = process;
    Thread reader = new Thread(this::read, "output of process " + process.pid());
    reader.setDaemon(true);
    reader.start();
  }

  public static ServerProcess start(Class<?> main, String... arguments) {
    return start(UNVERIFIED, System.getProperty("java.class.path"), main, arguments);
  }

  /**
   * Starts a main class on the entries of the class path whose file names match. Its classes are
   * verified, because verification may need a class that is missing.
   */
  public static ServerProcess start(Predicate<String> wanted, Class<?> main, String... arguments) {
    String classPath =
        Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
            .filter(entry -> wanted.test(new File(entry).getName()))
            .collect(Collectors.joining(File.pathSeparator));
    return start(List.of(), classPath, main, arguments);
  }

  private static ServerProcess start(
      List<String> options, String classPath, Class<?> main, String... arguments) {
    List<String> command = new ArrayList<>();
    command.addAll(List.of("-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    command.addAll(options);
    command.addAll(List.of("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"));
    command.addAll(List.of("-cp", classPath, main.getName()));
    command.addAll(List.of(arguments));
    try {
      return new ServerProcess(Program.JAVA.process(command).redirectErrorStream(true).start());
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Waits for a line that starts with a word, and returns what follows the word. */
  public String awaitLine(String word) {
    Awaitility.await(word)
        .atMost(MAX_WAIT)
        .until(
            () -> {
              if (lines.stream().anyMatch(startsWith(word))) {
                return true;
              }
              if (!process.isAlive()) {
                throw new IllegalStateException("the process has ended: " + lines);
              }
              return false;
            });
    return lines.stream()
        .filter(startsWith(word))
        .findFirst()
        .map(line -> line.substring(word.length()).strip())
        .orElseThrow();
  }

  /** Returns how many lines so far start with a word. */
  public long count(String word) {
    return lines.stream().filter(startsWith(word)).count();
  }

  /** Kills it with SIGKILL, and waits until it is gone. */
  public void kill() {
    process.destroyForcibly().onExit().join();
  }

  /** Stops it with SIGSTOP: it keeps its memory and its connections, and does nothing. */
  public void stop() {
    Signals.send("STOP", process.pid());
  }

  /** Resumes a stopped process. */
  public void resume() {
    Signals.send("CONT", process.pid());
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

  private static Predicate<String> startsWith(String word) {
    return line -> line.startsWith(word);
  }
}
