package io.github.grpcidempotency.example.demo;

import static java.util.stream.Collectors.joining;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A process of the demo: a JVM with the class path of this one. It runs until its standard input
 * ends, so it ends with the demo, even if the demo is killed.
 */
final class Child implements AutoCloseable {
  private static final String READY = "ready ";
  private static final long END_WITHIN_SECONDS = 30;

  private final Process process;
  private final String greeting;

  private Child(Process process, String greeting) {
    this.process = process;
    this.greeting = greeting;
  }

  /** Starts a main class, and waits until the class calls {@link #serve}. */
  static Child start(Class<?> main, String... arguments) {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "--enable-native-access=ALL-UNNAMED", // gRPC loads a native library of Netty
                "-cp",
                classPath(),
                main.getName()));
    command.addAll(List.of(arguments));
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      BufferedReader output = process.inputReader();
      List<String> log = new ArrayList<>();
      String line = output.readLine();
      while (line != null && !line.startsWith(READY)) {
        log.add(line);
        line = output.readLine();
      }
      if (line == null) {
        throw new IllegalStateException("a process has ended: " + String.join("\n", log));
      }
      Threads.start(() -> output.lines().forEach(unread -> {})); // so that it can go on logging
      return new Child(process, line.substring(READY.length()));
    } catch (IOException failure) {
      throw new UncheckedIOException("a process of the demo does not start", failure);
    }
  }

  /** Called by the process: reports that it is ready, and blocks until its standard input ends. */
  static void serve(Object greeting) throws IOException {
    System.out.println(READY + greeting);
    while (System.in.read() >= 0) {
      // nobody writes
    }
  }

  /** In {@code exec:java}, the classes do not come from the class path of the JVM. */
  private static String classPath() {
    return Child.class.getClassLoader() instanceof URLClassLoader loader
        ? Stream.of(loader.getURLs()).map(Child::file).collect(joining(File.pathSeparator))
        : System.getProperty("java.class.path");
  }

  private static String file(URL url) {
    try {
      return Path.of(url.toURI()).toString();
    } catch (URISyntaxException malformed) {
      throw new IllegalArgumentException(malformed);
    }
  }

  /** Returns what the process has reported. */
  String greeting() {
    return greeting;
  }

  long pid() {
    return process.pid();
  }

  /** Kills the process with SIGKILL, and waits until it is gone. */
  void kill() {
    process.toHandle().destroyForcibly();
    process.onExit().join();
  }

  /** Ends the process, and waits until it is gone. */
  @Override
  public void close() throws IOException {
    process.getOutputStream().close();
    process.onExit().orTimeout(END_WITHIN_SECONDS, TimeUnit.SECONDS).join();
  }
}
