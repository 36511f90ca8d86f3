package io.github.grpcidempotency.torture;

import java.io.IOException;
import java.io.UncheckedIOException;

/** Signals to single processes. */
final class Signals {
  private Signals() {}

  /** Sends a signal by its name. Does nothing if the process is gone. */
  static void send(String name, long pid) {
    try {
      new ProcessBuilder("kill", "-" + name, Long.toString(pid))
          .redirectErrorStream(true)
          .start()
          .onExit()
          .join();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
