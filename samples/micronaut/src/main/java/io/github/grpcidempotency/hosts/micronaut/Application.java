package io.github.grpcidempotency.hosts.micronaut;

import io.micronaut.runtime.Micronaut;

/** Serves orders. */
public final class Application {
  private Application() {}

  /** Starts the server, on a migrated database. */
  public static void main(String[] arguments) {
    Micronaut.run(Application.class, arguments);
  }
}
