package io.github.grpcidempotency.postgres;

import io.github.grpcidempotency.store.Claim.Settled;
import io.github.grpcidempotency.store.FailureCause;
import io.github.grpcidempotency.store.FailurePhase;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.store.StoreTransaction;
import io.github.grpcidempotency.store.TransactionMisuseException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.JdbiException;
import org.jdbi.v3.core.statement.UnableToExecuteStatementException;
import org.postgresql.core.BaseConnection;
import org.postgresql.core.TransactionState;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A pool's connection with a transaction open on it, until it is committed or rolled back. */
final class OpenTransaction implements StoreTransaction {
  private static final Logger logger = LoggerFactory.getLogger(OpenTransaction.class);

  private final Connection connection;
  private final GuardedConnection guard;
  private final Handles handles;
  private final AtomicBoolean givenBack = new AtomicBoolean();
  private volatile boolean taken;
  private volatile boolean rollbackOnly;

  OpenTransaction(Connection connection, Handles handles) {
    this.connection = connection;
    this.guard = new GuardedConnection(connection);
    this.handles = handles;
  }

  /**
   * Runs the first statements, the first of which is {@code BEGIN}. The driver would send its own
   * {@code BEGIN} as a message that the database answers separately, so the driver would wake up
   * twice.
   */
  <T> T begin(Function<Connection, T> firstStatements) {
    try {
      return firstStatements.apply(connection);
    } finally {
      endAutoCommit();
    }
  }

  /** From here on, the driver knows that there is a transaction; this sends nothing. */
  private void endAutoCommit() {
    try {
      connection.setAutoCommit(false);
    } catch (SQLException closed) {
      logger.debug("the transaction's connection was closed as it began", closed);
    }
  }

  /** Returns the connection for the handler. */
  Connection connection() {
    taken = true;
    return guard.forHandler();
  }

  /** Returns a handle for the handler. */
  Handle handle() {
    taken = true;
    return handles.on(guard.forHandler());
  }

  @Override
  public void setRollbackOnly() {
    rollbackOnly = true;
  }

  @Override
  public boolean isTaken() {
    return taken;
  }

  /** Returns the connection for the library's own statements. */
  Connection own() {
    return connection;
  }

  /**
   * Ends the handler's use, runs the last statements, which commit by themselves, and gives the
   * connection back.
   *
   * @throws StoreException if they could not be committed, or if that is not known
   * @throws TransactionMisuseException if the handler has ended the transaction behind the guard's
   *     back
   */
  Settled finish(Consumer<Connection> lastStatements) {
    guard.end();
    try {
      TransactionState state = state();
      if (state == TransactionState.IDLE) {
        throw endedByHandler();
      }
      if (rollbackOnly) {
        return Settled.ROLLED_BACK;
      }
      if (state == TransactionState.FAILED) {
        logger.warn("the handler answered OK although a statement of its transaction had failed");
        return Settled.ROLLED_BACK;
      }
      lastStatements.accept(connection);
      return Settled.DONE;
    } catch (JdbiException failure) {
      return onFailure(failure);
    } finally {
      giveBack();
    }
  }

  @Override
  public Settled commit() {
    return finish(
        last -> {
          Optional<String> unused =
              StatementBatch.run(last, "COMMIT", values -> values, row -> row.getString(1));
        });
  }

  @Override
  public void rollback() {
    guard.end();
    giveBack();
  }

  /**
   * Rolls back, does something else on the connection in autocommit, and gives it back.
   *
   * @throws JdbiException if that fails; the rollback has been done, or the database does it
   */
  <T> T rollbackAnd(Function<Connection, T> work) {
    guard.end();
    try {
      connection.rollback();
      connection.setAutoCommit(true);
      return work.apply(connection);
    } catch (SQLException failure) {
      throw new UnableToExecuteStatementException(failure, null);
    } finally {
      giveBack();
    }
  }

  private static Settled onFailure(JdbiException failure) {
    if (Failures.isLostRace(failure)) {
      return Settled.LOST;
    }
    if (Failures.violatesRowSecurity(failure)) {
      logger.error("the record of a transaction was refused", failure);
      throw endedByHandler();
    }
    if (Failures.causeOf(failure) != FailureCause.OTHER) {
      throw Failures.of("could not commit the transaction", failure);
    }
    logger.error("the transaction could not be committed", failure);
    return Settled.ROLLED_BACK;
  }

  /** The user's setting ends with the transaction, and without a user nothing can be recorded. */
  private static TransactionMisuseException endedByHandler() {
    return new TransactionMisuseException(
        "the handler has ended the transaction itself, by a statement, or has changed"
            + " app.current_user_id; what it committed has no record");
  }

  private TransactionState state() {
    try {
      return connection.unwrap(BaseConnection.class).getTransactionState();
    } catch (SQLException closed) {
      throw new StoreException(
          "the transaction's connection is closed",
          closed,
          FailurePhase.HANDLER_DONE,
          FailureCause.CONNECTION_LOST);
    }
  }

  private void giveBack() {
    if (givenBack.getAndSet(true)) {
      return;
    }
    try (connection) {
      if (!connection.getAutoCommit()) {
        connection.rollback();
      }
    } catch (SQLException unreachable) {
      logger.debug("a transaction could not be rolled back; the database does so", unreachable);
    }
  }
}
