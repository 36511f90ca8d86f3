package io.github.grpcidempotency.postgres.internal.check;

import io.github.grpcidempotency.postgres.internal.carry.StatementCarrier;
import io.github.grpcidempotency.postgres.internal.database.RecordDatabase;
import io.github.grpcidempotency.postgres.internal.sql.SqlFile;
import io.github.grpcidempotency.postgres.internal.sql.StatementBatch;
import io.github.grpcidempotency.postgres.internal.transaction.HandlerTransaction;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** Checks that the host's transactions can be used for claims. */
final class HostCheck {
  private static final String PLACE = SqlFile.load("check/place", Map.of());

  private static final String NO_CARRIER =
      "the host's transactions do not run on connections of an IdempotencyDataSource, so a"
          + " claim cannot be sent with a handler's first statement: wrap the connection pool in"
          + " an IdempotencyDataSource and give that to the transaction manager, the repositories"
          + " and the HostTransactions; or set ClaimTiming.BEFORE_HANDLER for the procedures";

  private HostCheck() {}

  /** The database that a connection leads to, and its role. */
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
   * Returns the problems of the host's transactions; empty if the store has no HostTransactions.
   */
  static List<String> problems(RecordDatabase database) {
    return within(
        database,
        transaction -> problems(transaction.begin(Place::of), database.onConnection(Place::of)));
  }

  /** Returns the problems, as above, that prevent a claim with a handler's first statement. */
  static List<String> problemsOfCarrying(RecordDatabase database) {
    return within(
        database,
        transaction ->
            StatementCarrier.of(transaction.unguarded()).isPresent()
                ? List.of()
                : List.of(NO_CARRIER));
  }

  private static List<String> within(
      RecordDatabase database, Function<HandlerTransaction, List<String>> check) {
    if (database.settings().hosts().isEmpty()) {
      return List.of();
    }
    HandlerTransaction transaction = HandlerTransaction.open(database, "idempotency/check");
    try {
      return check.apply(transaction);
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
              + " the handler's writes and the record cannot be committed together: use the same"
              + " data source for both");
    }
    if (!host.role().equals(pool.role())) {
      problems.add(
          ("the host's transactions have the role %s, and the store's pool has the role %s;"
                      + " row-level security")
                  .formatted(host.role(), pool.role())
              + " must apply to both in the same way: use the same data source for both");
    }
    if (host.readOnly() && !pool.readOnly()) {
      problems.add(
          "the host's transactions are read-only: configure the host's data source or"
              + " transaction manager to begin transactions that can write");
    }
    return problems;
  }
}
