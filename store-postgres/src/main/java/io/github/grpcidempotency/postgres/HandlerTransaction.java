package io.github.grpcidempotency.postgres;

import io.github.grpcidempotency.store.Claim.Settled;
import io.github.grpcidempotency.store.FailureCause;
import io.github.grpcidempotency.store.FailurePhase;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.store.StoreTransaction;
import io.github.grpcidempotency.store.TransactionMisuseException;
import java.sql.Connection;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.JdbiException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A transaction that a handler writes through, until it is committed or rolled back. */
abstract sealed class HandlerTransaction implements StoreTransaction
    permits OpenTransaction, HostedTransaction {
  private static final Logger logger = LoggerFactory.getLogger(HandlerTransaction.class);

  private final Connection connection;
  private final GuardedConnection guard;
  private final Handles handles;
  private volatile boolean taken;
  private volatile boolean rollbackOnly;

  /**
   * Makes a transaction.
   *
   * @param connection for the library's own statements
   * @param forHandler for the handler's, which may put others in front
   */
  HandlerTransaction(Connection connection, Connection forHandler, Handles handles) {
    this.connection = connection;
    this.guard = new GuardedConnection(forHandler);
    this.handles = handles;
  }

  /**
   * Sends statements in front of the handler's first statement, instead of {@link #begin}. Only
   * {@link LeadingStatements#thread} may use the connection.
   */
  final void carryFirst(LeadingStatements statements) {
    guard.limitTo(statements.thread());
    carry(statements);
  }

  abstract void carry(LeadingStatements statements);

  /**
   * The handler has ended, and the statements in front of its first one were not sent yet: sends
   * them, if they have to go with anything that is to come.
   *
   * @return whether another transaction may take the place of this one if they are not sent
   */
  abstract boolean sendFirst();

  /** The statements in front of the handler's first one were sent, whatever became of them. */
  abstract void begun();

  /** Nothing of the handler is to remain. Whatever it was given is refused from now on. */
  abstract void preempted();

  /**
   * Runs the transaction's first statements.
   *
   * @throws JdbiException if they fail; the transaction must be rolled back
   */
  abstract <T> T begin(Function<Connection, T> firstStatements);

  /**
   * Ends the handler's use, and commits together with the last statements.
   *
   * @throws StoreException if they could not be committed, or if that is not known
   * @throws TransactionMisuseException if the handler has ended the transaction behind the guard's
   *     back
   */
  abstract Settled finish(LastStatements statements, UnaryOperator<Parameters> values);

  /**
   * Rolls back, and then does something else on a connection in autocommit.
   *
   * @throws JdbiException if that fails; the rollback has been done, or the database does it
   */
  abstract <T> T rollbackAnd(Function<Connection, T> work);

  /** Returns the connection for the handler. */
  final Connection connection() {
    taken = true;
    return guard.forHandler();
  }

  /** Returns a handle for the handler. */
  final Handle handle() {
    taken = true;
    return handles.on(guard.forHandler());
  }

  /** Returns the connection for the library's own statements. */
  final Connection own() {
    return connection;
  }

  /** Returns what the handler sees. */
  final Connection guarded() {
    return guard.forHandler();
  }

  /** Makes what the handler was given useless, because the claim is not its own. */
  final void refuseUse() {
    guard.preempt();
  }

  /** Takes the place of a transaction that the handler was given, and that has ended. */
  final void takeOver(HandlerTransaction earlier) {
    taken |= earlier.taken;
    rollbackOnly |= earlier.rollbackOnly;
  }

  /**
   * Waits until no other thread is in a statement of the handler, whose use has ended.
   *
   * @return whether there is none
   */
  final boolean awaitUnused(Duration patience) {
    return guard.awaitUnused(patience);
  }

  /** Makes what the handler was given useless. */
  final void endUse() {
    guard.end();
  }

  @Override
  public final void setRollbackOnly() {
    rollbackOnly = true;
  }

  final boolean isRollbackOnly() {
    return rollbackOnly;
  }

  @Override
  public boolean isTaken() {
    return taken;
  }

  /** Says what it means that the last statements have failed: nothing remains, or nobody knows. */
  static Settled onFailure(JdbiException failure) {
    Optional<Refusal> refusal = Refusal.of(failure);
    if (refusal.filter(Refusal.TRANSACTION_ENDED::equals).isPresent()) {
      throw endedByHandler();
    }
    if (refusal.filter(Refusal.CLAIM_LOST::equals).isPresent() || Failures.isLostRace(failure)) {
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
  static TransactionMisuseException endedByHandler() {
    return new TransactionMisuseException(
        "the handler has ended the transaction itself, or has changed app.current_user_id; what it"
            + " committed has no record");
  }

  static TransactionMisuseException stillInUse() {
    return new TransactionMisuseException(
        "the handler answered OK while another thread was still using its transaction, which was"
            + " rolled back");
  }

  static Settled failedInHandler() {
    logger.warn("the handler answered OK although a statement of its transaction had failed");
    return Settled.ROLLED_BACK;
  }

  static StoreException closed(@Nullable Throwable cause) {
    return new StoreException(
        "the transaction's connection is closed",
        cause,
        FailurePhase.HANDLER_DONE,
        FailureCause.CONNECTION_LOST);
  }
}
