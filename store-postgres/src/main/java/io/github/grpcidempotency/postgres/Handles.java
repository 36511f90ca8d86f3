package io.github.grpcidempotency.postgres;

import java.sql.Connection;
import java.util.function.Consumer;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jspecify.annotations.Nullable;

/** Makes handles on connections that are already open, all of one Jdbi, which parses SQL once. */
final class Handles {
  private static final ThreadLocal<@Nullable Connection> LENT = new ThreadLocal<>();

  private final Jdbi jdbi = Jdbi.create(Handles::lent);

  Handles(Consumer<Jdbi> configuration) {
    configuration.accept(jdbi);
  }

  /** Returns a handle for a handler, as the host has configured it. */
  Handle on(Connection connection) {
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
