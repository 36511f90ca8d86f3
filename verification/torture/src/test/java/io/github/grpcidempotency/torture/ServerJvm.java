package io.github.grpcidempotency.torture;

import io.github.grpcidempotency.fault.Signals;
import io.github.grpcidempotency.test.Program;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A process that runs one {@link TortureServer}. */
final class ServerJvm {
  private static final List<Path> FAKETIME =
      Stream.of(
              "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1",
              "/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1")
          .map(Path::of)
          .toList();

  private final Process process;

  private ServerJvm(Process process) {
    this.process = process;
  }

  /**
   * How to start servers.
   *
   * @param kind what they are built with, which a previous version of them does not ask
   * @param jdbcUrl of their pools
   * @param pastUrl a URL that bypasses all faults
   * @param overlay is put in front of the class path
   * @param log receives their output
   */
  record Recipe(
      ServerKind kind,
      String jdbcUrl,
      String pastUrl,
      Duration lease,
      Optional<Path> overlay,
      Path log) {}

  /**
   * What a process reported when it had started.
   *
   * @param port where it serves
   * @param refused why it does not serve; empty if it does
   */
  record Greeting(int port, String refused) {}

  /** Returns whether processes can be started with another clock. */
  static boolean canSkewClocks() {
    return fakeTime().isPresent();
  }

  static ServerJvm start(
      String name,
      Recipe recipe,
      ServerClasses classes,
      ServerLife life,
      Duration skew,
      List<String> options) {
    List<String> command = new ArrayList<>();
    command.addAll(List.of("-Xmx160m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    // What the JVM itself warns of is no greeting.
    command.addAll(List.of("-Xlog:disable", "-Xlog:all=warning:stderr"));
    command.addAll(List.of("-Xshare:auto", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"));
    boolean archives = options.containsAll(classes.archivingOptions());
    if (recipe.overlay().isEmpty() && classes.isArchived()) {
      command.addAll(classes.options());
    } else if (!archives) {
      // There is no archive of its classes: to verify them would be a third of its start.
      command.addAll(List.of("-XX:+UnlockDiagnosticVMOptions", "-XX:-BytecodeVerificationRemote"));
    }
    command.addAll(options);
    String classPath = classes.classPath();
    command.add("-cp");
    command.add(
        recipe.overlay().map(first -> first + File.pathSeparator + classPath).orElse(classPath));
    command.add(TortureServer.class.getName());
    command.addAll(
        List.of(
            name,
            recipe.jdbcUrl(),
            recipe.pastUrl(),
            Long.toString(recipe.lease().toMillis()),
            life.toString(),
            recipe.kind().name()));
    ProcessBuilder builder =
        Program.JAVA
            .process(command)
            .redirectError(ProcessBuilder.Redirect.appendTo(recipe.log().toFile()));
    if (!skew.isZero()) {
      builder.environment().put("LD_PRELOAD", fakeTime().orElseThrow().toString());
      builder.environment().put("FAKETIME", "%+ds".formatted(skew.toSeconds()));
    }
    try {
      return new ServerJvm(builder.start());
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Waits until it serves or refuses to; empty if neither has happened by then. */
  Optional<Greeting> awaitGreeting(Duration patience) {
    return awaitLine(patience)
        .map(
            line ->
                line.startsWith(TortureServer.SERVES)
                    ? new Greeting(
                        Integer.parseInt(line.substring(TortureServer.SERVES.length())), "")
                    : new Greeting(-1, line.substring(TortureServer.REFUSES.length())));
  }

  /** Makes it close, and returns what it reports; empty if it reports nothing for too long. */
  Optional<String> close(Duration patience) {
    try {
      process.getOutputStream().write('\n');
      process.getOutputStream().flush();
    } catch (IOException gone) {
      return Optional.empty();
    }
    return awaitLine(patience).map(line -> line.substring(TortureServer.CLOSED.length()));
  }

  private Optional<String> awaitLine(Duration patience) {
    CompletableFuture<@Nullable String> line =
        CompletableFuture.supplyAsync(this::readLine, command -> new Thread(command).start());
    try {
      return Optional.ofNullable(line.get(patience.toMillis(), TimeUnit.MILLISECONDS));
    } catch (TimeoutException stuck) {
      return Optional.empty();
    } catch (ExecutionException | InterruptedException failure) {
      throw new IllegalStateException("could not read the output of a server", failure);
    }
  }

  private @Nullable String readLine() {
    try {
      return process.inputReader().readLine();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  void kill() {
    process.destroyForcibly().onExit().join();
  }

  /** Waits for its end, after it was made to close. */
  void awaitEnd() {
    process.onExit().join();
  }

  void stop() {
    Signals.send("STOP", process.pid());
  }

  void resume() {
    Signals.send("CONT", process.pid());
  }

  private static Optional<Path> fakeTime() {
    return FAKETIME.stream().filter(Files::exists).findFirst();
  }
}
