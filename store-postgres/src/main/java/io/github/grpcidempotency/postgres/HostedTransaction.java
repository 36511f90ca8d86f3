package io.github.grpcidempotency.postgres;

import io.github.grpcidempotency.postgres.HostTransaction.Completion;
import io.github.grpcidempotency.store.Claim.Settled;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jdbi.v3.core.JdbiException;
import org.jdbi.v3.core.transaction.TransactionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A transaction of the host, begun by the store. It is ended by the thread that has begun it:
 *
 * <ol>
 *   <li>The handler must not have ended it by itself.
 *   <li>The record is registered for the moment before the commit, and so comes after everything
 *       that the host has held back until then, such as the resource that it refers to. The commit
 *       takes it along if it can.
 *   <li>The host commits. What that has come to is the {@link HostOutcome}.
 * </ol>
 */
final class HostedTransaction extends HandlerTransaction {
  private static final Logger logger = LoggerFactory.getLogger(HostedTransaction.class);

  private static final String NOT_ITS_OWNER =
      "a transaction of the host is ended by the thread that has begun it";

  private final RecordDatabase database;
  private final HostTransaction.Begun host;
  private final Thread owner = Thread.currentThread();
  private final AtomicBoolean over = new AtomicBoolean();
  private volatile boolean beside;
  private final HostOutcome outcome;
  private Optional<StatementCarrier> carrier = Optional.empty();

  private HostedTransaction(
      RecordDatabase database, HostTransaction.Begun host, Connection connection, Handles handles) {
    super(connection, connection, handles);
    this.database = database;
    this.host = host;
    this.outcome = new HostOutcome(connection);
  }

  /**
   * Begins a transaction on the current thread.
   *
   * @throws JdbiException if that is not possible
   */
  static HostedTransaction begin(
      RecordDatabase database, HostTransactions hosts, Handles handles, String name) {
    HostTransaction.Begun host;
    try {
      host = hosts.begin(name);
    } catch (RuntimeException failure) {
      throw Failures.ofBegin(failure);
    }
    try {
      Connection connection = host.connection();
      checkManaged(connection);
      HostedTransaction begun = new HostedTransaction(database, host, connection, handles);
      host.afterCompletion(begun.outcome::heard);
      return begun;
    } catch (RuntimeException failure) {
      rollBack(host);
      throw Failures.ofBegin(failure);
    }
  }

  private static void checkManaged(Connection connection) {
    try {
      if (connection.getAutoCommit()) {
        throw new TransactionException(
            "the host's transaction has a connection in autocommit mode: its data source is not"
                + " the one that the host's transaction manager manages");
      }
    } catch (SQLException failure) {
      throw new TransactionException("could not use the host's connection", failure);
    }
  }

  @Override
  void carry(LeadingStatements statements) {
    try {
      StatementCarrier itsCarrier = own().unwrap(StatementCarrier.class);
      itsCarrier.carryFirst(statements);
      carrier = Optional.of(itsCarrier);
    } catch (SQLException failure) {
      throw new TransactionException("could not use the host's connection", failure);
    }
  }

  /**
   * What the host holds back belongs to this transaction, and so does what it will do before the
   * commit. So the claim is sent within it: in front of the first statement of a flush, or by
   * itself if there is nothing to flush.
   */
  @Override
  boolean sendFirst() {
    checkThread();
    try {
      host.flush();
    } catch (ClaimPreemptedException known) {
      return false;
    } catch (RuntimeException failure) {
      outcome.flushFailed(failure);
    }
    try {
      carrier.orElseThrow().sendAlone();
    } catch (ClaimPreemptedException known) {
      return false;
    } catch (SQLException failure) {
      logger.warn("a claim could not be sent at its handler's end", failure);
    }
    return false;
  }

  /** The handler has taken a connection, which is not this transaction's on another thread. */
  void connectionTaken() {
    if (Thread.currentThread() != owner && !over.get()) {
      beside = true;
    }
  }

  /** The host has begun it. */
  @Override
  void begun() {}

  /** The host's thread rolls it back. */
  @Override
  void preempted() {
    refuseUse();
    setRollbackOnly();
  }

  @Override
  <T> T begin(Function<Connection, T> firstStatements) {
    return firstStatements.apply(own());
  }

  @Override
  public boolean isTaken() {
    return super.isTaken() || outcome.mayBeUsed();
  }

  @Override
  public boolean wasSuspended() {
    return beside || host.wasSuspended();
  }

  @Override
  Settled finish(LastStatements statements, UnaryOperator<Parameters> values) {
    return finish(
        Optional.of(
            () ->
                HostCommit.carry(
                    host,
                    own(),
                    statements,
                    (connection, sql) -> record(connection, sql, values))));
  }

  @Override
  public Settled commit() {
    return finish(Optional.empty());
  }

  private Settled finish(Optional<Runnable> record) {
    endUse();
    checkThread();
    try {
      Optional<Settled> ended = outcome.beforeCommit(isRollbackOnly());
      return ended.isPresent() ? ended.get() : commit(record);
    } finally {
      end();
    }
  }

  private Settled commit(Optional<Runnable> record) {
    Completion completion;
    try {
      record.ifPresent(host::beforeCommit);
      completion = host.commit();
      over.set(true);
    } catch (RuntimeException failure) {
      return outcome.afterFailure(failure, record.isPresent());
    }
    return outcome.afterCommit(completion, record.isPresent());
  }

  private void record(Connection connection, String statements, UnaryOperator<Parameters> values) {
    try {
      outcome.recorded(
          StatementBatch.runForFirst(
              connection, statements, values, row -> row.getBoolean("taken")));
    } catch (JdbiException failure) {
      throw outcome.recordFailed(failure);
    }
  }

  @Override
  public void rollback() {
    endUse();
    if (Thread.currentThread() != owner) {
      setRollbackOnly();
      logger.error(
          "only {} can roll its transaction back", owner, new IllegalStateException(NOT_ITS_OWNER));
      return;
    }
    end();
  }

  @Override
  <T> T rollbackAnd(Function<Connection, T> work) {
    endUse();
    checkThread();
    end();
    return database.onConnection(work);
  }

  private void checkThread() {
    if (Thread.currentThread() != owner) {
      setRollbackOnly();
      throw new IllegalStateException(NOT_ITS_OWNER);
    }
  }

  private void end() {
    if (!over.getAndSet(true)) {
      carrier.ifPresent(StatementCarrier::forget);
      rollBack(host);
    }
  }

  private static void rollBack(HostTransaction.Begun host) {
    try {
      host.rollback();
    } catch (RuntimeException broken) {
      logger.error("the host's rollback, which must not throw, has thrown", broken);
    }
  }
}
