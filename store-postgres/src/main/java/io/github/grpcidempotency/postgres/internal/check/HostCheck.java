package io.github.grpcidempotency.postgres.internal.check;

import io.github.grpcidempotency.postgres.internal.database.RecordDatabase;
import io.github.grpcidempotency.postgres.internal.transaction.HandlerTransaction;
import java.util.ArrayList;
import java.util.List;

/**
 * Checks that the transactions of handlers can be used for claims: those of the host, or those that
 * the store begins on connections of the service's pool.
 */
final class HostCheck {
  private HostCheck() {}

  /** Returns the problems of handlers' transactions beside the store's own connections. */
  static List<String> problems(RecordDatabase database) {
    Place store = database.onConnection(Place::of);
    HandlerTransaction transaction = HandlerTransaction.open(database, "idempotency/check");
    try {
      return problems(transaction.begin(Place::of), store);
    } finally {
      transaction.rollback();
    }
  }

  private static List<String> problems(Place handlers, Place store) {
    List<String> problems = new ArrayList<>();
    if (!handlers.isDatabaseOf(store)) {
      problems.add(
          ("handlers' transactions are on another database (%s) than the store's pool (%s), so the"
                  + " handler's writes and the record cannot be committed together: use the same"
                  + " database for both")
              .formatted(handlers.name(), store.name()));
    }
    if (!handlers.role().equals(store.role())) {
      problems.add(
          ("handlers' transactions have the role %s, and the store's pool has the role %s;"
                  + " row-level security must apply to both in the same way: use the same role for"
                  + " both")
              .formatted(handlers.role(), store.role()));
    }
    if (handlers.readOnly() && !store.readOnly()) {
      problems.add(
          "handlers' transactions are read-only: configure the data source or the host's"
              + " transaction manager to begin transactions that can write");
    }
    return problems;
  }
}
