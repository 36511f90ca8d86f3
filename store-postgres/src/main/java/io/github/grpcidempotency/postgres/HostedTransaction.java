package io.github.grpcidempotency.postgres;

import io.github.grpcidempotency.postgres.HostTransaction.Completion;
import io.github.grpcidempotency.store.Claim.Settled;
import io.github.grpcidempotency.store.FailureCause;
import io.github.grpcidempotency.store.FailurePhase;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.store.TransactionMisuseException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jdbi.v3.core.JdbiException;
import org.jdbi.v3.core.transaction.TransactionException;
import org.jspecify.annotations.Nullable;
import org.postgresql.core.BaseConnection;
import org.postgresql.core.TransactionState;
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
 *   <li>The host commits. How it ended is what the host says afterwards. If the host throws, it is
 *       what the database has said.
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
  private volatile Optional<Completion> heard = Optional.empty();
  private volatile Optional<Boolean> used = Optional.empty();
  private Optional<StatementCarrier> carrier = Optional.empty();
  private Optional<RuntimeException> flushFailure = Optional.empty();
  private Optional<RuntimeException> recordFailure = Optional.empty();

  private HostedTransaction(
      RecordDatabase database, HostTransaction.Begun host, Connection connection, Handles handles) {
    super(connection, connection, handles);
    this.database = database;
    this.host = host;
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
      host.afterCompletion(completion -> begun.heard = Optional.of(completion));
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
  void carryFirst(LeadingStatements statements) {
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
      flushFailure = Optional.of(failure);
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

  /**
   * The record's flush knows it. Of a call that fails nobody does: its handler may have written
   * what the host still holds back.
   */
  @Override
  public boolean isTaken() {
    return super.isTaken() || used.orElse(true);
  }

  @Override
  public boolean wasSuspended() {
    return host.wasSuspended();
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
      Optional<Settled> ended = endedBefore();
      return ended.isPresent() ? ended.get() : commit(record);
    } finally {
      end();
    }
  }

  /** Returns how it ended if it cannot be committed any more. */
  private Optional<Settled> endedBefore() {
    if (heard.isPresent()) {
      if (heard.get() != Completion.ROLLED_BACK) {
        throw endedByHandler();
      }
      logger.warn("the host rolled the transaction back before its handler had ended");
      return Optional.of(Settled.ROLLED_BACK);
    }
    checkOpen();
    Optional<TransactionState> state = state();
    if (state.filter(TransactionState.IDLE::equals).isPresent()) {
      throw endedByHandler();
    }
    if (flushFailure.isPresent()) {
      return Optional.of(onCommitFailure(flushFailure.get(), false));
    }
    if (isRollbackOnly()) {
      return Optional.of(Settled.ROLLED_BACK);
    }
    return state.filter(TransactionState.FAILED::equals).map(failed -> failedInHandler());
  }

  private Settled commit(Optional<Runnable> record) {
    Completion completion;
    try {
      record.ifPresent(host::beforeCommit);
      completion = host.commit();
      over.set(true);
    } catch (RuntimeException failure) {
      return onCommitFailure(failure, record.isPresent());
    }
    return settled(completion, record.isPresent());
  }

  private void record(Connection connection, String statements, UnaryOperator<Parameters> values) {
    try {
      used =
          Optional.of(
              StatementBatch.runForFirst(
                  connection, statements, values, row -> row.getBoolean("taken")));
    } catch (JdbiException failure) {
      RuntimeException meant = Refusal.of(failure).isPresent() ? endedByHandler() : failure;
      recordFailure = Optional.of(meant);
      throw meant;
    }
  }

  private Settled settled(Completion completion, boolean mustRecord) {
    if (recordFailure.isPresent()) {
      return onRecordFailure(recordFailure.get());
    }
    return switch (completion) {
      case COMMITTED -> committed(mustRecord);
      case ROLLED_BACK -> {
        logger.warn("the host rolled the transaction back: somebody has set it to rollback-only");
        yield Settled.ROLLED_BACK;
      }
      case UNKNOWN -> throw unknown(null);
    };
  }

  private Settled committed(boolean mustRecord) {
    if (mustRecord && used.isEmpty()) {
      TransactionMisuseException unrecorded =
          new TransactionMisuseException(
              "the host has committed without running what was registered before the commit; what"
                  + " the handler wrote has no record: its HostTransactions are at fault");
      logger.error("a call has lost its protection", unrecorded);
      throw unrecorded;
    }
    return Settled.DONE;
  }

  private static Settled onRecordFailure(RuntimeException failure) {
    if (failure instanceof JdbiException ofDatabase) {
      return onFailure(ofDatabase);
    }
    throw failure;
  }

  /** The record's own failure counts, whatever the host has made of it. */
  private Settled onCommitFailure(RuntimeException failure, boolean mustRecord) {
    if (recordFailure.isPresent()) {
      return onRecordFailure(recordFailure.get());
    }
    if (heard.filter(Completion.COMMITTED::equals).isPresent()) {
      logger.warn("the transaction is committed, but the host has failed after that", failure);
      return committed(mustRecord);
    }
    JdbiException known = Failures.ofCommit(failure);
    if (Failures.isCutOff(known)) {
      throw Failures.of("could not commit the transaction", known);
    }
    if (Failures.isLostRace(known)) {
      return Settled.LOST;
    }
    if (!Failures.isAnswered(known) && heard.filter(Completion.UNKNOWN::equals).isPresent()) {
      throw unknown(failure);
    }
    logger.error("the transaction could not be committed", failure);
    return Settled.ROLLED_BACK;
  }

  private static StoreException unknown(@Nullable Throwable cause) {
    return new StoreException(
        "the host does not know whether it has committed the transaction",
        cause,
        FailurePhase.HANDLER_DONE,
        FailureCause.CONNECTION_LOST);
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

  private void checkOpen() {
    try {
      if (own().isClosed()) {
        throw closed(null);
      }
    } catch (SQLException hidden) {
      logger.debug("the host's connection does not tell whether it is closed", hidden);
    }
  }

  /** Returns the driver's state of the transaction; empty if the host's connection hides it. */
  private Optional<TransactionState> state() {
    try {
      return own().isWrapperFor(BaseConnection.class)
          ? Optional.of(own().unwrap(BaseConnection.class).getTransactionState())
          : Optional.empty();
    } catch (SQLException hidden) {
      logger.debug("the host's connection does not tell its state; the database will", hidden);
      return Optional.empty();
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
