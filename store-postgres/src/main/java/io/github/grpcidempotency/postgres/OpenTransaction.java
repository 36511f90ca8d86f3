package io.github.grpcidempotency.postgres;

import io.github.grpcidempotency.store.Claim.Settled;
import io.github.grpcidempotency.store.TransactionMisuseException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jdbi.v3.core.JdbiException;
import org.jdbi.v3.core.statement.UnableToExecuteStatementException;
import org.postgresql.core.BaseConnection;
import org.postgresql.core.TransactionState;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A pool's connection with a transaction open on it. */
final class OpenTransaction extends HandlerTransaction {
  private static final Logger logger = LoggerFactory.getLogger(OpenTransaction.class);

  private final AtomicBoolean givenBack = new AtomicBoolean();
  private final Optional<CarryingConnection> carrying;

  OpenTransaction(Connection connection, Handles handles) {
    super(connection, connection, handles);
    this.carrying = Optional.empty();
  }

  private OpenTransaction(Connection connection, CarryingConnection carrying, Handles handles) {
    super(connection, carrying.proxy(), handles);
    this.carrying = Optional.of(carrying);
    carrying.showAs(guarded());
  }

  /** Makes one that begins with the handler's first statement. */
  static OpenTransaction late(Connection connection, Handles handles) {
    return new OpenTransaction(connection, new CarryingConnection(connection), handles);
  }

  @Override
  void carryFirst(LeadingStatements statements) {
    carrying.orElseThrow().carryFirst(statements);
  }

  /** All that the handler can have done is to send a statement. */
  @Override
  boolean sendFirst() {
    return true;
  }

  @Override
  void begun() {
    endAutoCommit();
  }

  @Override
  void preempted() {
    refuseUse();
    giveBack();
  }

  /**
   * Runs the first statements, the first of which is {@code BEGIN}. The driver would send its own
   * {@code BEGIN} as a message that the database answers separately, so the driver would wake up
   * twice.
   */
  @Override
  <T> T begin(Function<Connection, T> firstStatements) {
    try {
      return firstStatements.apply(own());
    } finally {
      endAutoCommit();
    }
  }

  /** From here on, the driver knows that there is a transaction; this sends nothing. */
  private void endAutoCommit() {
    try {
      own().setAutoCommit(false);
    } catch (SQLException closed) {
      logger.debug("the transaction's connection was closed as it began", closed);
    }
  }

  /** Runs the last statements, which commit by themselves, and gives the connection back. */
  @Override
  Settled finish(LastStatements statements, UnaryOperator<Parameters> values) {
    endUse();
    try {
      TransactionState state = state();
      if (state == TransactionState.IDLE) {
        throw endedEarly(statements, values);
      }
      if (isRollbackOnly()) {
        return Settled.ROLLED_BACK;
      }
      if (state == TransactionState.FAILED) {
        return failedInHandler();
      }
      Optional<String> unused =
          StatementBatch.run(own(), statements.withCommit(), values, row -> row.getString(1));
      return Settled.DONE;
    } catch (JdbiException failure) {
      return onFailure(failure);
    } finally {
      giveBack();
    }
  }

  /**
   * What the handler has committed itself would be done again by every retry, so its answer is
   * recorded as early as may be. If it has rolled back, and the answer refers to what it has
   * created, the database refuses the record. Returns what the handler has done wrong.
   */
  private TransactionMisuseException endedEarly(
      LastStatements statements, UnaryOperator<Parameters> values) {
    if (statements.afterwards().isEmpty() || isRollbackOnly()) {
      return endedByHandler();
    }
    try {
      own().setAutoCommit(true);
      Optional<String> unused =
          StatementBatch.run(own(), statements.afterwards(), values, row -> row.getString(1));
    } catch (JdbiException | SQLException unrecorded) {
      logger.error("what a handler has committed itself is not recorded", unrecorded);
      return endedByHandler();
    }
    return new TransactionMisuseException(
        "the handler has ended the transaction itself; its answer was recorded after that, so that"
            + " no retry does it again");
  }

  @Override
  public Settled commit() {
    return finish(LastStatements.NONE, values -> values);
  }

  @Override
  public void rollback() {
    endUse();
    giveBack();
  }

  @Override
  <T> T rollbackAnd(Function<Connection, T> work) {
    endUse();
    try {
      own().rollback();
      own().setAutoCommit(true);
      return work.apply(own());
    } catch (SQLException failure) {
      throw new UnableToExecuteStatementException(failure, null);
    } finally {
      giveBack();
    }
  }

  private TransactionState state() {
    try {
      return own().unwrap(BaseConnection.class).getTransactionState();
    } catch (SQLException closed) {
      throw closed(closed);
    }
  }

  private void giveBack() {
    if (givenBack.getAndSet(true)) {
      return;
    }
    try (Connection connection = own()) {
      if (!connection.getAutoCommit()) {
        connection.rollback();
      }
    } catch (SQLException unreachable) {
      logger.debug("a transaction could not be rolled back; the database does so", unreachable);
    }
  }
}
