package io.github.grpcidempotency.postgres;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jdbi.v3.core.JdbiException;
import org.jdbi.v3.core.statement.UnableToExecuteStatementException;

/** Looks for anything that makes the host's transactions unfit for the store's claims. */
final class HostCheck {
  private static final String PLACE = SqlFile.load("check/place", Map.of());

  private static final String NO_CARRIER =
      "the host's transactions do not run on connections of an IdempotencyDataSource, so no claim"
          + " can travel with a handler's first statement: wrap the pool in one, and give that to"
          + " the host's transaction manager, its repositories and its HostTransactions; or let the"
          + " procedures claim BEFORE_HANDLER";

  private HostCheck() {}

  /** Where a connection leads, and as whom. */
  private record Place(String database, String id, String role, boolean readOnly) {
    static Place of(Connection connection) {
      return StatementBatch.run(connection, PLACE, values -> values, Place::read).orElseThrow();
    }

    private static Place read(ResultSet row) throws SQLException {
      return new Place(
          row.getString("database"),
          row.getString("id"),
          row.getString("role"),
          row.getBoolean("read_only"));
    }

    boolean isDatabaseOf(Place other) {
      return database.equals(other.database) && id.equals(other.id);
    }
  }

  /**
   * Returns what is wrong with the host's transactions; nothing if there are none.
   *
   * @throws JdbiException if the database cannot be reached, or the host gives no transaction
   */
  static List<String> problems(RecordDatabase database) {
    if (database.hosts().isEmpty()) {
      return List.of();
    }
    HandlerTransaction transaction = database.open("idempotency/check");
    try {
      Place host = transaction.begin(Place::of);
      return problems(host, database.onConnection(Place::of));
    } finally {
      transaction.rollback();
    }
  }

  /**
   * Returns what keeps a claim from travelling with a handler's first statement; nothing if there
   * are no transactions of a host.
   *
   * @throws JdbiException if the database cannot be reached, or the host gives no transaction
   */
  static List<String> problemsOfCarrying(RecordDatabase database) {
    if (database.hosts().isEmpty()) {
      return List.of();
    }
    HandlerTransaction transaction = database.open("idempotency/check");
    try {
      return transaction.own().isWrapperFor(StatementCarrier.class)
          ? List.of()
          : List.of(NO_CARRIER);
    } catch (SQLException failure) {
      throw new UnableToExecuteStatementException(failure, null);
    } finally {
      transaction.rollback();
    }
  }

  private static List<String> problems(Place host, Place pool) {
    List<String> problems = new ArrayList<>();
    if (!host.isDatabaseOf(pool)) {
      problems.add(
          "the host's transactions are on another database (%s) than the store's pool (%s), so"
                  .formatted(host.database(), pool.database())
              + " effect and record are no one commit; give both one data source");
    }
    if (!host.role().equals(pool.role())) {
      problems.add(
          "the host's transactions have the role %s, and the store's pool has %s; row-level security"
                  .formatted(host.role(), pool.role())
              + " must bind both alike, so give both one data source");
    }
    if (host.readOnly() && !pool.readOnly()) {
      problems.add("the host's transactions are read-only; let it give ones that write");
    }
    return problems;
  }
}
