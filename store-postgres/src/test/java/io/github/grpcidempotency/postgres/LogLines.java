package io.github.grpcidempotency.postgres;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Listens to what is logged until it is closed. Tests run one at a time. */
final class LogLines implements AutoCloseable {
  private final PrintStream before = System.err;
  private final ByteArrayOutputStream logged = new ByteArrayOutputStream();

  private LogLines() {
    System.setErr(new PrintStream(logged, true, StandardCharsets.UTF_8));
  }

  static LogLines listen() {
    return new LogLines();
  }

  /** Returns the warnings so far. */
  List<String> warnings() {
    return logged
        .toString(StandardCharsets.UTF_8)
        .lines()
        .filter(line -> line.contains("WARN"))
        .toList();
  }

  @Override
  public void close() {
    System.setErr(before);
  }
}
