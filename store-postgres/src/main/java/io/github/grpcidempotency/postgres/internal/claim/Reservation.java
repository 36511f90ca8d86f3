package io.github.grpcidempotency.postgres.internal.claim;

import io.github.grpcidempotency.postgres.ClaimLostException;
import io.github.grpcidempotency.postgres.HostTransaction;
import io.github.grpcidempotency.postgres.HostTransaction.Completion;
import io.github.grpcidempotency.postgres.HostTransactions;
import io.github.grpcidempotency.postgres.internal.claim.JoinedAnswer.State;
import io.github.grpcidempotency.postgres.internal.database.RecordDatabase;
import io.github.grpcidempotency.postgres.internal.driver.Driver;
import io.github.grpcidempotency.postgres.internal.host.HostCommit;
import io.github.grpcidempotency.postgres.internal.sql.CommitRefusal;
import io.github.grpcidempotency.postgres.internal.sql.Failures;
import io.github.grpcidempotency.store.RecordedOutcome;
import io.github.grpcidempotency.store.StoreTransaction;
import io.github.grpcidempotency.store.TransactionMisuseException;
import java.sql.Connection;
import java.time.Instant;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jdbi.v3.core.JdbiException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A claim that is a committed reservation in the table: a lease, fenced by its attempt. A separate
 * statement settles it, unless the handler's own transaction records the answer.
 */
public final class Reservation extends PostgresClaim {
  private static final Logger logger = LoggerFactory.getLogger(Reservation.class);

  private final RecordDatabase database;
  private final ReservedRow row;
  private final Optional<String> takenOverFrom;

  /** The answer that the handler's own transaction records, if it records one. */
  private volatile Optional<JoinedAnswer> joined = Optional.empty();

  /** The id of the handler's transaction that has locked the row, if there is one. */
  private volatile Optional<String> lockedBy = Optional.empty();

  private volatile boolean lost;

  private volatile boolean failing;

  /** The host transaction in which the handler answered with an error has changed something. */
  private volatile boolean changed;

  /** The end of the host transaction in which the handler answered without recording. */
  private volatile Completion answeredIn = Completion.COMMITTED;

  Reservation(ReservedRow row, Instant expires, Optional<String> takenOverFrom) {
    super(row.request(), row.id(), row.attempt(), expires, row.resourceIdType());
    this.database = row.database();
    this.row = row;
    this.takenOverFrom = takenOverFrom;
  }

  @Override
  public Optional<String> takenOverFrom() {
    return takenOverFrom;
  }

  @Override
  public Optional<StoreTransaction> transaction() {
    return Optional.empty();
  }

  @Override
  public Settled complete(RecordedOutcome outcome) {
    if (lost) {
      return Settled.LOST;
    }
    return switch (outcome instanceof RecordedOutcome.Failure ? Completion.COMMITTED : answeredIn) {
      case COMMITTED ->
          joined
              .flatMap(answer -> settledWith(answer, outcome))
              .orElseGet(
                  () ->
                      settle(
                          "record the answer",
                          Optional.of(outcome),
                          connection -> complete(connection, outcome)));
      case ROLLED_BACK -> releaseUncommitted();
      case UNKNOWN -> keepUnknown();
    };
  }

  /**
   * Settles on a connection of its own, or in a batch with other calls. A batch would not wait for
   * a transaction of the handler that has locked the row or recorded an answer.
   */
  private Settled settle(
      String what, Optional<RecordedOutcome> outcome, Function<Connection, Settled> statements) {
    return joined.isEmpty() && lockedBy.isEmpty()
        ? database.inStore(
            what, () -> row.settleInBatch(outcome, () -> database.onConnection(statements)))
        : onOtherConnection(what, statements);
  }

  /**
   * Runs statements on another connection, where they would wait if a transaction of the handler
   * had locked the row.
   */
  private <T> T onOtherConnection(String what, Function<Connection, T> statements) {
    return database.inStore(
        what,
        connection -> {
          checkUnlocked(connection);
          return statements.apply(connection);
        });
  }

  /**
   * Throws if the handler's transaction still locks the row. A transaction whose commit got no
   * answer may still be committing; this is not a mistake of the handler.
   */
  private void checkUnlocked(Connection connection) {
    boolean committing = joined.filter(answer -> answer.state() == State.UNKNOWN).isPresent();
    if (!committing && lockedBy.filter(locking -> row.isOpen(connection, locking)).isPresent()) {
      throw new TransactionMisuseException(
          ("operation %s was answered while the transaction that called"
                  + " TransactionalCompletion.lock was still open: commit the transaction or roll it"
                  + " back before the handler answers")
              .formatted(row.id()));
    }
  }

  /**
   * Returns the settlement that results from the handler's transaction; empty if that transaction
   * does not settle the claim.
   */
  private Optional<Settled> settledWith(JoinedAnswer answer, RecordedOutcome sent) {
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
        onOtherConnection(
            "release the key after the handler's rollback",
            connection -> {
              if (row.release(connection)) {
                return Settled.ROLLED_BACK;
              }
              return row.isCompleted(connection) ? Settled.DONE : Settled.LOST;
            });
    if (settled == Settled.ROLLED_BACK) {
      logger.warn(
          "operation {} answered OK, but its transaction was rolled back; the key is"
              + " released, and a retry runs the handler again",
          row.id());
    }
    return settled;
  }

  /** Keeps the key until the lease ends, because the effect may be committed. */
  private Settled keepUnknown() {
    logger.warn(
        "operation {} answered OK, but the host's transaction manager does not know whether"
            + " its transaction was committed: the key stays reserved until its lease ends",
        row.id());
    return onOtherConnection("mark the outcome as unknown", row::markUnknown)
        ? Settled.UNKNOWN
        : Settled.LOST;
  }

  @Override
  public boolean deferSettlement(Runnable settlement) {
    return joined.isPresent() ? joined.get().defer(settlement) : deferToOpenTransaction(settlement);
  }

  /**
   * Waits for the end of the host's transaction if the handler answers within one. The transaction
   * may still be rolled back, even if another transaction records the answer.
   */
  private boolean deferToOpenTransaction(Runnable settlement) {
    Optional<HostTransaction> open = database.settings().hosts().flatMap(HostTransactions::current);
    if (open.isEmpty()) {
      return false;
    }
    try {
      if (failing) {
        HostTransaction transaction = open.get();
        transaction.beforeCommit(() -> changed = row.hasChanges(transaction.connection()));
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
          row.id(),
          rollbackOnly);
      answeredIn = Completion.ROLLED_BACK;
      return false;
    }
  }

  @Override
  public void failing() {
    failing = true;
  }

  @Override
  public boolean hasCommitted() {
    return changed && answeredIn != Completion.ROLLED_BACK;
  }

  @Override
  public Settled release() {
    return settledAlready()
        .orElseGet(
            () ->
                settle(
                    "release the key",
                    Optional.empty(),
                    connection -> settle(connection, row::release)));
  }

  @Override
  public Settled markUnknown() {
    return settledAlready()
        .orElseGet(
            () ->
                onOtherConnection(
                    "mark the outcome as unknown",
                    connection -> settle(connection, row::markUnknown)));
  }

  public RecordDatabase database() {
    return database;
  }

  public boolean isJoined() {
    return joined.filter(answer -> answer.state() != State.ROLLED_BACK).isPresent();
  }

  /** Locks the row in the handler's own transaction, so that no other one can change the row. */
  public void lockWithin(Connection connection) {
    try {
      lockedBy = Optional.of(row.lock(connection));
    } catch (JdbiException failure) {
      throw CommitRefusal.CLAIM_LOST.isReasonOf(failure) ? claimLost() : failure;
    }
  }

  /**
   * Records a response in the handler's own transaction and commits the transaction. If either
   * fails, the outcome of the transaction is unknown here, so the settlement reads the record. A
   * transaction that is still open is rolled back, so that the handler cannot commit it without the
   * record: the driver's {@code autosave} may have kept the transaction usable.
   */
  public void commitWithin(Connection connection, RecordedOutcome outcome) {
    JoinedAnswer answer = new JoinedAnswer(outcome, State.UNKNOWN);
    joined = Optional.of(answer);
    try {
      record(connection, row.joining().withCommit(), outcome);
    } catch (RuntimeException failure) {
      Driver.quietly("roll the handler's transaction back", connection::rollback);
      throw failure;
    }
    answer.recorded();
    answer.ended(Completion.COMMITTED);
  }

  /** Records a response in a transaction of the host, just before the host commits. */
  public void completeAtEndOf(
      HostTransaction transaction, Connection connection, RecordedOutcome outcome) {
    JoinedAnswer answer = new JoinedAnswer(outcome, State.OPEN);
    transaction.afterCompletion(answer::ended);
    transaction.beforeCommit(() -> recordLatest(transaction, connection, answer));
    joined = Optional.of(answer);
  }

  /**
   * Records the answer that was registered last. An earlier answer of the same transaction is not
   * recorded. An answer that a later transaction registered is final if that transaction was
   * committed.
   */
  private void recordLatest(
      HostTransaction transaction, Connection connection, JoinedAnswer answer) {
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
                    .formatted(row.id()));
        case UNRECORDED, ROLLED_BACK, UNKNOWN -> joined = Optional.of(answer);
      }
    }
    HostCommit.carry(
        transaction,
        connection,
        row.joining(),
        (own, statements) -> {
          record(own, statements, answer.outcome());
          answer.recorded();
        });
  }

  private void record(Connection connection, String statements, RecordedOutcome outcome) {
    try {
      row.join(connection, statements, outcome, lockedBy);
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
    return database.settings().lost().apply(row.id());
  }

  /** Compares the response with the answer that the handler's transaction has recorded. */
  private Settled checkJoined(RecordedOutcome recorded, RecordedOutcome sent) {
    if (recorded.equals(sent)) {
      return Settled.DONE;
    }
    throw new TransactionMisuseException(
        ("operation %s returned another answer than its transaction recorded: return the"
                + " response that was passed to TransactionalCompletion")
            .formatted(row.id()));
  }

  /** Records the answer as early as possible, because its effect was committed without it. */
  private Settled recordLate(JoinedAnswer answer) {
    logger.error(
        "the writes of a call were committed without a record, which is written now; until"
            + " then, a retry may have run the handler again",
        unrecorded());
    return onOtherConnection(
        "record the answer", connection -> complete(connection, answer.outcome()));
  }

  private TransactionMisuseException unrecorded() {
    return new TransactionMisuseException(
        ("the host's transaction manager has committed without running the work that was"
                + " registered before the commit; the answer of operation %s was recorded after the"
                + " commit: correct the HostTransactions implementation")
            .formatted(row.id()));
  }

  private Settled complete(Connection connection, RecordedOutcome outcome) {
    Settled recorded = row.complete(connection, outcome);
    if (recorded != Settled.LOST) {
      return recorded;
    }
    if (row.isCompleted(connection)) {
      return Settled.DONE;
    }
    if (row.timeLine().isPresent() && row.markUnknown(connection)) {
      logger.warn(
          "the database failed over while the handler of operation {} was running, and may have"
              + " lost the handler's writes: the answer is not recorded, and a retry runs the"
              + " handler again once the lease has ended",
          row.id());
    }
    return Settled.LOST;
  }

  /** Returns the settlement of a claim that needs no other; empty if it has to be settled. */
  private Optional<Settled> settledAlready() {
    return lost
        ? Optional.of(Settled.LOST)
        : joined.filter(answer -> answer.state() == State.UNRECORDED).map(this::recordLate);
  }

  private Settled settle(Connection connection, Predicate<Connection> statement) {
    return statement.test(connection) || (joined.isPresent() && row.isCompleted(connection))
        ? Settled.DONE
        : Settled.LOST;
  }
}
