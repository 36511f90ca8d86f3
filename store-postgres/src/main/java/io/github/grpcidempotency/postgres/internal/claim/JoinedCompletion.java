package io.github.grpcidempotency.postgres.internal.claim;

import io.github.grpcidempotency.postgres.internal.driver.Driver;
import io.github.grpcidempotency.postgres.internal.sql.Failures;
import io.github.grpcidempotency.postgres.internal.sql.StatementBatch;
import io.github.grpcidempotency.postgres.spi.HostTransactions;
import io.github.grpcidempotency.spi.Claim.Settled;
import io.github.grpcidempotency.spi.RecordedOutcome;
import io.github.grpcidempotency.store.ClaimLostException;
import io.github.grpcidempotency.store.TransactionMisuseException;
import java.sql.Connection;
import java.util.Optional;
import org.jdbi.v3.core.JdbiException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the handler's own transactions do with a reservation: they lock it, record its answer, or
 * are open when the handler answers. The settlement of the call results from that.
 */
public final class JoinedCompletion {
  private static final Logger logger = LoggerFactory.getLogger(JoinedCompletion.class);

  private final Reservation reservation;

  /** The answer that a transaction has recorded, or has tried to record. */
  private volatile Optional<RecordedOutcome> joined = Optional.empty();

  /** The transaction with the answer is committed. Otherwise only the record shows its end. */
  private volatile boolean committed;

  /** The id of the transaction that has locked the row, if there is one. */
  private volatile Optional<String> lockedBy = Optional.empty();

  private volatile boolean lost;

  JoinedCompletion(Reservation reservation) {
    this.reservation = reservation;
  }

  /** Returns the host's transactions if one of them is open on this thread. */
  public Optional<HostTransactions> openOfHost() {
    return reservation.database().settings().hosts().filter(HostTransactions::isActive);
  }

  /** Locks the row in a transaction, so that no other one can change the row. */
  public void lockWithin(Connection connection) {
    try {
      lockedBy =
          StatementBatch.run(
              connection,
              reservation.sql().lock,
              reservation::identify,
              row -> row.getString("transaction"));
    } catch (JdbiException failure) {
      throw Failures.isClaimLost(failure) ? claimLost() : failure;
    }
  }

  /**
   * Records a response in a transaction and commits the transaction. If either fails, the outcome
   * of the transaction is unknown here, so the settlement reads the record. A transaction that is
   * still open is rolled back, so that the handler cannot commit it without the record: the
   * driver's {@code autosave} may have kept the transaction usable.
   */
  public void commitWithin(Connection connection, RecordedOutcome outcome) {
    committed = false;
    joined = Optional.of(outcome);
    try {
      record(connection, outcome);
      committed = true;
    } finally {
      if (!committed) {
        Driver.quietly("roll the handler's transaction back", connection::rollback);
      }
    }
  }

  private void record(Connection connection, RecordedOutcome outcome) {
    try {
      StatementBatch.run(
          connection,
          reservation.sql().join,
          values ->
              reservation
                  .identify(values.bindOutcome(outcome))
                  .bind("locked_by", "text", lockedBy));
    } catch (JdbiException failure) {
      throw refusal(failure);
    }
  }

  private RuntimeException refusal(JdbiException failure) {
    boolean stale = Failures.isSerializationFailure(failure) && lockedBy.isEmpty();
    if (stale || Failures.isStaleSnapshot(failure)) {
      return new TransactionMisuseException(
          "the handler's transaction is repeatable read or serializable, and the lease was"
              + " renewed after the transaction began, so it cannot record the answer: call"
              + " TransactionalCompletion.lock as the first statement of the transaction, or use"
              + " read committed");
    }
    return Failures.isClaimLost(failure) ? claimLost() : failure;
  }

  private ClaimLostException claimLost() {
    lost = true;
    return new ClaimLostException(reservation.operationId());
  }

  /** Returns whether a transaction has recorded the answer, or has tried to. */
  public boolean isUsed() {
    return joined.isPresent();
  }

  /** Returns whether a transaction may still lock the row. */
  boolean hasUsedTheRow() {
    return joined.isPresent() || lockedBy.isPresent();
  }

  /**
   * Throws if the handler's transaction still locks the row. A transaction whose commit got no
   * answer may still be committing; this is not a mistake of the handler.
   */
  void checkUnlocked(Connection connection) {
    if (joined.isEmpty() && lockedBy.filter(locking -> isOpen(connection, locking)).isPresent()) {
      throw new TransactionMisuseException(
          ("operation %s was answered while the transaction that called"
                  + " TransactionalCompletion.lock was still open: commit the transaction or roll it"
                  + " back before the handler answers")
              .formatted(reservation.operationId()));
    }
  }

  public boolean isOpen(Connection connection, String transaction) {
    return StatementBatch.run(
            connection,
            reservation.sql().isOpen,
            values -> values.bind("transaction", "text", Optional.of(transaction)),
            row -> row.getBoolean("open"))
        .orElse(false);
  }

  /** Whether a transaction of the host was open when the handler answered. */
  enum HostsTransaction {
    NONE,
    /** It is rolled back. */
    STOPPED,
    /** What the handler has written in it may be committed. */
    UNKNOWN
  }

  /**
   * Marks the host's transaction for rollback if one is open on this thread. What the handler has
   * written in it would otherwise be committed after the call was settled, or not at all.
   */
  HostsTransaction stopOpenTransaction() {
    try {
      Optional<HostTransactions> open = openOfHost();
      if (open.isEmpty()) {
        return HostsTransaction.NONE;
      }
      open.get().setRollbackOnly();
      logger.warn(answeredWithin().getMessage());
      return HostsTransaction.STOPPED;
    } catch (RuntimeException | Error refused) {
      logger.warn(
          "operation {} was answered in a transaction of the host that could not be marked for"
              + " rollback",
          reservation.operationId(),
          refused);
      return HostsTransaction.UNKNOWN;
    }
  }

  private TransactionMisuseException answeredWithin() {
    return new TransactionMisuseException(
        ("operation %s was answered in a transaction of the host that was still open, and that is"
                + " rolled back for this reason: answer after the commit, or make the procedure"
                + " transactional")
            .formatted(reservation.operationId()));
  }

  /** Returns the settlement of a claim with an answer; empty if the claim has to record it. */
  Optional<Settled> settle(RecordedOutcome sent) {
    if (lost) {
      return Optional.of(Settled.LOST);
    }
    if (committed) {
      return joined.map(recorded -> checkJoined(recorded, sent));
    }
    if (sent instanceof RecordedOutcome.Failure) {
      return Optional.empty();
    }
    if (stopOpenTransaction() != HostsTransaction.NONE) {
      throw answeredWithin();
    }
    return joined.map(recorded -> settleUncommitted(recorded, sent));
  }

  /** Returns the settlement of a claim without an answer; empty if the claim has to settle. */
  Optional<Settled> settleWithoutAnswer() {
    return lost ? Optional.of(Settled.LOST) : Optional.empty();
  }

  /** Compares the response with the answer that the handler's transaction has recorded. */
  private Settled checkJoined(RecordedOutcome recorded, RecordedOutcome sent) {
    if (recorded.equals(sent)) {
      return Settled.DONE;
    }
    throw new TransactionMisuseException(
        ("operation %s returned another answer than its transaction recorded: return the"
                + " response that was passed to TransactionalCompletion")
            .formatted(reservation.operationId()));
  }

  /**
   * Releases the key if the handler's transaction did not commit. Recording the answer now would
   * record it without its effect. Waits for a transaction that the database is still ending.
   */
  private Settled settleUncommitted(RecordedOutcome recorded, RecordedOutcome sent) {
    Settled settled = releaseUncommitted();
    return settled == Settled.DONE ? checkJoined(recorded, sent) : settled;
  }

  private Settled releaseUncommitted() {
    Settled settled =
        reservation.onOtherConnection(
            "release the key after the handler's rollback",
            connection -> {
              if (reservation.delete(connection)) {
                return Settled.ROLLED_BACK;
              }
              return reservation.isCompleted(connection) ? Settled.DONE : Settled.LOST;
            });
    if (settled == Settled.ROLLED_BACK) {
      logger.warn(
          "operation {} answered OK, but its transaction was rolled back; the key is"
              + " released, and a retry runs the handler again",
          reservation.operationId());
    }
    return settled;
  }
}
