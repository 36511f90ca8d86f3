package io.github.grpcidempotency.example.run.database;

import javax.sql.DataSource;

/**
 * A PostgreSQL that the example can use, as each of its three roles. The data sources are not
 * pools.
 */
public interface HostDatabase extends AutoCloseable {
  /** A database that stops answering must not block threads for longer than a lease. */
  int SOCKET_TIMEOUT_SECONDS = 10;

  /** Serves calls: bound by row-level security, owner of nothing. */
  DataSource app();

  /** Drains the outbox, and sees the outbox rows of all users. */
  DataSource worker();

  /**
   * Brings the schema up to date, as the role that owns it.
   *
   * @throws org.flywaydb.core.api.FlywayException if it cannot
   */
  void migrate();

  /** Releases what was started for this database. */
  @Override
  void close();
}
