package io.github.grpcidempotency.torture;

import io.github.grpcidempotency.postgres.ClaimJdbi;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import io.github.grpcidempotency.postgres.TransactionalCompletion;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.statement.UnableToExecuteStatementException;
import org.jdbi.v3.core.transaction.TransactionIsolationLevel;

/** Those of the store's pool, by Jdbi. */
final class PlainTransactions implements HandlerTransactions {
  private final String server;
  private final Jdbi jdbi;

  PlainTransactions(String server, DataSource pool) {
    this.server = server;
    this.jdbi = Jdbi.create(pool);
  }

  @Override
  public void configure(PostgresIdempotencyStore.Builder store) {
    // The store's own pool is all there is.
  }

  @Override
  public void write(EffectRun run, Rest rest) {
    Handle handle = ClaimJdbi.handle();
    if (run.way() == Way.AT_COMMIT_AFTER_A_FAILURE) {
      fail(handle);
      HandlerTransactions.unlessFailed(() -> insert(handle, server, run));
    } else {
      insert(handle, server, run);
    }
    rest.run();
  }

  private static void fail(Handle handle) {
    try {
      int unused = handle.execute("SELECT 1 / 0");
    } catch (UnableToExecuteStatementException asWanted) {
      // a handler need not mind
    }
  }

  @Override
  public void join(EffectRun run, Rest rest) {
    jdbi.useTransaction(
        handle -> {
          lockIfStrict(handle);
          insert(handle, server, run);
          rest.run();
          complete(handle, run);
        });
  }

  @Override
  public void beside(EffectRun run, Rest rest) {
    jdbi.useTransaction(
        handle -> {
          insert(handle, server, run);
          rest.run();
        });
  }

  @Override
  public void inVain(EffectRun run, boolean locks, Rest rest) {
    jdbi.useTransaction(
        handle -> {
          if (locks) {
            lock(handle);
          }
          insert(handle, server, run);
          rest.run();
          handle.rollback();
        });
  }

  @Override
  public boolean areOfHost() {
    return false;
  }

  private static void complete(Handle handle, EffectRun run) {
    try {
      TransactionalCompletion.completeAndCommit(handle.getConnection(), run.effect());
    } catch (SQLException failure) {
      throw new UnableToExecuteStatementException("could not complete", failure, null);
    }
  }

  static void lock(Handle handle) {
    try {
      TransactionalCompletion.lock(handle.getConnection());
    } catch (SQLException failure) {
      throw new UnableToExecuteStatementException("could not lock", failure, null);
    }
  }

  static void insert(Handle handle, String server, EffectRun run) {
    handle.createUpdate(run.insert()).bindMap(run.parameters(server)).execute();
  }

  /** A renewal would change the record behind the snapshot of a stricter transaction. */
  private static void lockIfStrict(Handle handle) {
    if (handle.getTransactionIsolationLevel() != TransactionIsolationLevel.READ_COMMITTED) {
      lock(handle);
    }
  }
}
