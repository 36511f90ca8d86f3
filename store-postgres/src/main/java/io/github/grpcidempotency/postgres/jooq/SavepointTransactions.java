package io.github.grpcidempotency.postgres.jooq;

import io.github.grpcidempotency.grpc.CurrentOperation;
import java.sql.Connection;
import java.sql.Savepoint;
import org.jooq.Configuration;
import org.jooq.Transaction;
import org.jooq.TransactionContext;
import org.jooq.TransactionProvider;

/** Runs a transaction within a claim as a savepoint; any other transaction is the host's. */
final class SavepointTransactions implements TransactionProvider {
  private final Configuration host;

  private record Nested(Savepoint savepoint) implements Transaction {}

  SavepointTransactions(Configuration host) {
    this.host = host;
  }

  @Override
  public void begin(TransactionContext context) {
    if (CurrentOperation.hasTransaction()) {
      context.transaction(new Nested(context.dsl().connectionResult(Connection::setSavepoint)));
    } else {
      host.transactionProvider().begin(context);
    }
  }

  @Override
  public void commit(TransactionContext context) {
    if (context.transaction() instanceof Nested nested) {
      context.dsl().connection(connection -> connection.releaseSavepoint(nested.savepoint()));
    } else {
      host.transactionProvider().commit(context);
    }
  }

  @Override
  public void rollback(TransactionContext context) {
    if (context.transaction() instanceof Nested nested) {
      context
          .dsl()
          .connection(
              connection -> {
                connection.rollback(nested.savepoint());
                connection.releaseSavepoint(nested.savepoint());
              });
    } else if (!CurrentOperation.hasTransaction()) {
      host.transactionProvider().rollback(context);
    }
  }
}
