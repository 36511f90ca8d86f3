package io.github.grpcidempotency.test;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Captures the log lines of slf4j-simple, until it is closed. Tests run one at a time. */
public final class LogLines implements AutoCloseable {
  private final PrintStream before = System.err;
  private final ByteArrayOutputStream logged = new ByteArrayOutputStream();

  private LogLines() {
    System.setErr(new PrintStream(logged, true, StandardCharsets.UTF_8));
  }

  /** Starts capturing. */
  public static LogLines listen() {
    return new LogLines();
  }

  /** Returns all lines so far, including stack traces. */
  public List<String> all() {
    return logged.toString(StandardCharsets.UTF_8).lines().toList();
  }

  /** Returns the warnings so far. */
  public List<String> warnings() {
    return all().stream().filter(line -> line.contains("WARN")).toList();
  }

  @Override
  public void close() {
    System.setErr(before);
  }
}
