package io.github.grpcidempotency.torture;

import io.github.grpcidempotency.postgres.ClaimTransaction;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import io.github.grpcidempotency.postgres.TransactionalCompletion;
import java.io.ByteArrayInputStream;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.ThreadLocalRandom;
import javax.sql.DataSource;
import org.jdbi.v3.core.ConnectionException;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.statement.PreparedBatch;
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
    Handle handle = ClaimTransaction.handle();
    switch (run.way()) {
      case BY_ITSELF -> insertAsBatch(handle, run);
      case AFTER_A_FAILURE -> {
        fail(handle);
        HandlerTransactions.unlessFailed(() -> insert(handle, server, run));
      }
      case AFTER_ANOTHER_USE -> {
        useOtherwise(handle.getConnection());
        insert(handle, server, run);
      }
      case PLAIN, CLAIMED_FIRST, WITH_FIRST_STATEMENT, FROM_ANOTHER_THREAD ->
          insert(handle, server, run);
    }
    rest.run();
  }

  /** Uses a connection as libraries do before their first statement. */
  private static void useOtherwise(Connection connection) {
    try {
      switch (ThreadLocalRandom.current().nextInt(4)) {
        case 0 -> {
          try (ResultSet tables =
              connection.getMetaData().getTables(null, "torture", "effects", null)) {
            boolean unused = tables.next();
          }
        }
        case 1 -> {
          try (Statement statement = connection.createStatement()) {
            statement.setFetchSize(10);
            statement.addBatch("SELECT 1");
            int[] unused = statement.executeBatch();
          }
        }
        case 2 -> {
          try (PreparedStatement statement = connection.prepareStatement("SELECT ?::bytea")) {
            statement.setBinaryStream(1, new ByteArrayInputStream(new byte[10]), 10);
            boolean unused = statement.getMetaData() != null && statement.execute();
          }
        }
        default -> {
          boolean unused = connection.isValid(1);
        }
      }
    } catch (SQLException failure) {
      throw new ConnectionException(failure);
    }
  }

  private void insertAsBatch(Handle handle, EffectRun run) {
    try (PreparedBatch batch = handle.prepareBatch(EffectRun.INSERT)) {
      batch.bindMap(run.parameters(server)).add();
      int[] unused = batch.execute();
    }
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
    handle.createUpdate(EffectRun.INSERT).bindMap(run.parameters(server)).execute();
  }

  /** A renewal would change the record behind the snapshot of a stricter transaction. */
  private static void lockIfStrict(Handle handle) {
    if (handle.getTransactionIsolationLevel() != TransactionIsolationLevel.READ_COMMITTED) {
      lock(handle);
    }
  }
}
