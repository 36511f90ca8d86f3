package io.github.grpcidempotency.postgres.internal.claim;

import io.github.grpcidempotency.postgres.ClaimLostException;
import io.github.grpcidempotency.postgres.HostTransaction;
import io.github.grpcidempotency.postgres.HostTransaction.Completion;
import io.github.grpcidempotency.postgres.HostTransactions;
import io.github.grpcidempotency.postgres.internal.claim.JoinedAnswer.State;
import io.github.grpcidempotency.postgres.internal.driver.Driver;
import io.github.grpcidempotency.postgres.internal.sql.CommitRefusal;
import io.github.grpcidempotency.postgres.internal.sql.Failures;
import io.github.grpcidempotency.postgres.internal.sql.StatementBatch;
import io.github.grpcidempotency.store.Claim.Settled;
import io.github.grpcidempotency.store.RecordedOutcome;
import io.github.grpcidempotency.store.TransactionMisuseException;
import java.sql.Connection;
import java.util.Optional;
import org.jdbi.v3.core.JdbiException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the handler's own transactions do with a reservation: they lock it, record its answer, or
 * end without recording. The settlement of the call then results from their end.
 */
public final class JoinedCompletion {
  private static final Logger logger = LoggerFactory.getLogger(JoinedCompletion.class);

  private final Reservation reservation;

  /** The answer that a transaction records, if one does. */
  private volatile Optional<JoinedAnswer> joined = Optional.empty();

  /** The id of the transaction that has locked the row, if there is one. */
  private volatile Optional<String> lockedBy = Optional.empty();

  private volatile boolean lost;

  private volatile boolean failing;

  /** The host transaction in which the handler answered with an error has changed something. */
  private volatile boolean changed;

  /** The end of the host transaction in which the handler answered without recording. */
  private volatile Completion answeredIn = Completion.COMMITTED;

  JoinedCompletion(Reservation reservation) {
    this.reservation = reservation;
  }

  public Optional<HostTransactions> hosts() {
    return reservation.database().settings().hosts();
  }

  /** Locks the row in a transaction, so that no other one can change the row. */
  public void lockWithin(Connection connection) {
    try {
      lockedBy =
          StatementBatch.run(
              connection,
              reservation.database().sql().lock,
              reservation::identify,
              row -> row.getString("transaction"));
    } catch (JdbiException failure) {
      throw CommitRefusal.CLAIM_LOST.isReasonOf(failure) ? claimLost() : failure;
    }
  }

  /**
   * Records a response in a transaction and commits the transaction. If either fails, the outcome
   * of the transaction is unknown here, so the settlement reads the record. A transaction that is
   * still open is rolled back, so that the handler cannot commit it without the record: the
   * driver's {@code autosave} may have kept the transaction usable.
   */
  public void commitWithin(Connection connection, RecordedOutcome outcome) {
    JoinedAnswer answer = new JoinedAnswer(outcome, State.UNKNOWN);
    joined = Optional.of(answer);
    boolean recorded = false;
    try {
      record(connection, reservation.sql().join.withCommit(), outcome);
      recorded = true;
    } finally {
      if (!recorded) {
        Driver.quietly("roll the handler's transaction back", connection::rollback);
      }
    }
    answer.recorded();
    answer.ended(Completion.COMMITTED);
  }

  /** Records a response in a transaction of the host, just before the host commits. */
  public void completeAtEndOf(
      HostTransaction transaction, Connection connection, RecordedOutcome outcome) {
    JoinedAnswer answer = new JoinedAnswer(outcome, State.OPEN);
    transaction.afterCompletion(answer::ended);
    transaction.beforeCommit(() -> recordLatest(connection, answer));
    joined = Optional.of(answer);
  }

  /**
   * Records the answer that was registered last. An earlier answer of the same transaction is not
   * recorded. An answer that a later transaction registered is final if that transaction was
   * committed.
   */
  private void recordLatest(Connection connection, JoinedAnswer answer) {
    JoinedAnswer latest = joined.orElse(answer);
    if (latest != answer) {
      switch (latest.state()) {
        case OPEN -> {
          return;
        }
        case COMMITTED ->
            throw new TransactionMisuseException(
                ("operation %s was completed in two transactions, and one of them is committed:"
                        + " complete an operation in one transaction only")
                    .formatted(reservation.operationId()));
        case UNRECORDED, ROLLED_BACK, UNKNOWN -> joined = Optional.of(answer);
      }
    }
    try {
      record(connection, reservation.sql().join.alone(), answer.outcome());
    } catch (JdbiException failure) {
      throw Failures.of("could not record the answer", failure);
    }
    answer.recorded();
  }

  private void record(Connection connection, String statements, RecordedOutcome outcome) {
    try {
      StatementBatch.run(
          connection,
          statements,
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
    if (stale || CommitRefusal.STALE_SNAPSHOT.isReasonOf(failure)) {
      return new TransactionMisuseException(
          "the handler's transaction is repeatable read or serializable, and the lease was"
              + " renewed after the transaction began, so it cannot record the answer: call"
              + " TransactionalCompletion.lock as the first statement of the transaction, or use"
              + " read committed");
    }
    return CommitRefusal.CLAIM_LOST.isReasonOf(failure) ? claimLost() : failure;
  }

  private ClaimLostException claimLost() {
    lost = true;
    return reservation.database().settings().lost().apply(reservation.operationId());
  }

  /** Returns whether a transaction records the answer, or has tried to. */
  boolean isUsed() {
    return joined.isPresent();
  }

  /** Returns whether a transaction may still lock the row. */
  boolean hasUsedTheRow() {
    return joined.isPresent() || lockedBy.isPresent();
  }

  /** Returns whether the answer is recorded, or may be, without a statement of the claim. */
  public boolean mayBeRecorded() {
    return joined.filter(answer -> answer.state() != State.ROLLED_BACK).isPresent();
  }

  /**
   * Throws if the handler's transaction still locks the row. A transaction whose commit got no
   * answer may still be committing; this is not a mistake of the handler.
   */
  void checkUnlocked(Connection connection) {
    boolean committing = joined.filter(answer -> answer.state() == State.UNKNOWN).isPresent();
    if (!committing && lockedBy.filter(locking -> isOpen(connection, locking)).isPresent()) {
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
            reservation.database().sql().isOpen,
            values -> values.bind("transaction", "text", Optional.of(transaction)),
            row -> row.getBoolean("open"))
        .orElse(false);
  }

  /**
   * Waits for the end of the host's transaction if the handler answers within one. The transaction
   * may still be rolled back, even if another transaction records the answer.
   */
  boolean deferSettlement(Runnable settlement) {
    if (joined.isPresent()) {
      return joined.get().defer(settlement);
    }
    Optional<HostTransaction> open = hosts().flatMap(HostTransactions::current);
    if (open.isEmpty()) {
      return false;
    }
    try {
      if (failing) {
        HostTransaction transaction = open.get();
        transaction.beforeCommit(() -> changed = hasChanges(transaction.connection()));
      }
      open.get()
          .afterCompletion(
              completion -> {
                answeredIn = completion;
                settlement.run();
              });
      return true;
    } catch (IllegalStateException rollbackOnly) {
      logger.debug(
          "operation {} was answered in a transaction that is marked for rollback",
          reservation.operationId(),
          rollbackOnly);
      answeredIn = Completion.ROLLED_BACK;
      return false;
    }
  }

  /** Returns whether a transaction has changed or locked a row of any table. */
  private boolean hasChanges(Connection connection) {
    return StatementBatch.run(
            connection,
            reservation.database().sql().hasChanges,
            values -> values,
            row -> row.getBoolean("changes"))
        .orElse(false);
  }

  void failing() {
    failing = true;
  }

  boolean hasCommitted() {
    return changed && answeredIn != Completion.ROLLED_BACK;
  }

  /** Returns the settlement of a claim with an answer; empty if the claim has to record it. */
  Optional<Settled> settle(RecordedOutcome sent) {
    if (lost) {
      return Optional.of(Settled.LOST);
    }
    return switch (sent instanceof RecordedOutcome.Failure ? Completion.COMMITTED : answeredIn) {
      case COMMITTED -> joined.flatMap(answer -> settle(answer, sent));
      case ROLLED_BACK -> Optional.of(releaseUncommitted());
      case UNKNOWN -> Optional.of(keepUnknown());
    };
  }

  /** Returns the settlement of a claim without an answer; empty if the claim has to settle. */
  Optional<Settled> settleWithoutAnswer() {
    return lost
        ? Optional.of(Settled.LOST)
        : joined.filter(answer -> answer.state() == State.UNRECORDED).map(this::recordLate);
  }

  private Optional<Settled> settle(JoinedAnswer answer, RecordedOutcome sent) {
    return switch (answer.state()) {
      case OPEN, COMMITTED -> Optional.of(checkJoined(answer.outcome(), sent));
      case UNRECORDED -> {
        Settled unused = recordLate(answer);
        throw unrecorded();
      }
      case ROLLED_BACK, UNKNOWN ->
          sent instanceof RecordedOutcome.Failure
              ? Optional.empty()
              : Optional.of(settleUncommitted(answer, sent));
    };
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
  private Settled settleUncommitted(JoinedAnswer answer, RecordedOutcome sent) {
    Settled settled = releaseUncommitted();
    return settled == Settled.DONE ? checkJoined(answer.outcome(), sent) : settled;
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

  /** Keeps the key until the lease ends, because the effect may be committed. */
  private Settled keepUnknown() {
    logger.warn(
        "operation {} answered OK, but the host's transaction manager does not know whether"
            + " its transaction was committed: the key stays reserved until its lease ends",
        reservation.operationId());
    return reservation.onOtherConnection(
            "mark the outcome as unknown", connection -> reservation.markUnknown(connection))
        ? Settled.UNKNOWN
        : Settled.LOST;
  }

  /** Records the answer as early as possible, because its effect was committed without it. */
  private Settled recordLate(JoinedAnswer answer) {
    logger.error(
        "the writes of a call were committed without a record, which is written now; until"
            + " then, a retry may have run the handler again",
        unrecorded());
    return reservation.onOtherConnection(
        "record the answer", connection -> reservation.record(connection, answer.outcome()));
  }

  private TransactionMisuseException unrecorded() {
    return new TransactionMisuseException(
        ("the host's transaction manager has committed without running the work that was"
                + " registered before the commit; the answer of operation %s was recorded after the"
                + " commit: correct the HostTransactions implementation")
            .formatted(reservation.operationId()));
  }
}
