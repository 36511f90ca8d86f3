package io.github.grpcidempotency.postgres.internal.database;

import java.sql.Connection;
import java.util.function.Consumer;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jspecify.annotations.Nullable;

/**
 * Creates Jdbi handles on open connections. All handles belong to one Jdbi, so each SQL text is
 * parsed once.
 */
public final class Handles {
  private static final ThreadLocal<@Nullable Connection> LENT = new ThreadLocal<>();

  private final Jdbi jdbi = Jdbi.create(Handles::lent);

  public Handles(Consumer<Jdbi> configuration) {
    configuration.accept(jdbi);
  }

  public Handle on(Connection connection) {
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
      throw new IllegalStateException("this Jdbi opens handles on existing connections only");
    }
    return connection;
  }
}
