package io.github.grpcidempotency.postgres;

import java.sql.Connection;
import java.util.function.Consumer;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jspecify.annotations.Nullable;

/**
 * Makes handles on connections that are already open, all of two Jdbis, so that they parse SQL
 * once.
 */
final class Handles {
  private static final ThreadLocal<@Nullable Connection> LENT = new ThreadLocal<>();

  private final Jdbi own = Jdbi.create(Handles::lent);
  private final Jdbi handlers = Jdbi.create(Handles::lent);

  Handles(Consumer<Jdbi> configuration) {
    configuration.accept(handlers);
  }

  /** Returns a handle for the library's own statements, which no host's configuration changes. */
  Handle own(Connection connection) {
    return open(own, connection);
  }

  /** Returns a handle for a handler, as the host has configured it. */
  Handle forHandler(Connection connection) {
    return open(handlers, connection);
  }

  private static Handle open(Jdbi jdbi, Connection connection) {
    LENT.set(connection);
    try {
      return jdbi.open();
    } finally {
      LENT.remove();
    }
  }

  private static Connection lent() {
    Connection connection = LENT.get();
    if (connection == null) {
      throw new IllegalStateException("handles are opened on a connection only");
    }
    return connection;
  }
}
