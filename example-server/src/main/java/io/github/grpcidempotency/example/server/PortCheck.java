package io.github.grpcidempotency.example.server;

import io.github.grpcidempotency.example.database.StartupFailure;
import java.io.IOException;
import java.net.ServerSocket;

/** Looks at the port first, since starting a database for nothing takes seconds. */
public final class PortCheck {
  private PortCheck() {}

  /**
   * Does nothing if the port can be listened on.
   *
   * @throws StartupFailure if not
   */
  public static void requireFree(int port) {
    try {
      new ServerSocket(port).close();
    } catch (IOException | IllegalArgumentException e) {
      throw new StartupFailure(
          "Port %d cannot be listened on (%s); choose another with --port."
              .formatted(port, e.getMessage()));
    }
  }
}
