package io.github.grpcidempotency.torture;

import io.github.grpcidempotency.torture.FaultSchedule.Planned;
import io.github.grpcidempotency.torture.History.Fault;
import java.util.Map;
import java.util.UUID;
import org.jdbi.v3.core.Jdbi;

/** A PostgreSQL that breaks when it is told to, and recovers. */
interface FaultyPostgres extends AutoCloseable {
  /** Returns the URL of a database for a role, past everything that a server can meet. */
  String jdbcUrl(String role, String database);

  /** Returns how a server comes to a database. */
  Road road(int server, String role, String database);

  /** Connects with a role that bypasses all rules. */
  Jdbi superuser(String database);

  /** Returns the version. */
  String version();

  /** Breaks it in one of its ways, and returns when it has recovered. */
  Fault inject(Planned planned);

  /** Sets whether servers may log in; connections that are open stay open. */
  void allowLogins(boolean allowed);

  /** Returns on which time line each effect was written, where there can be several. */
  Map<UUID, Long> timelines();

  /** Whether it may forget what it has confirmed. */
  boolean mayLose();

  @Override
  void close();
}
