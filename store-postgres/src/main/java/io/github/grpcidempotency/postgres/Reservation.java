package io.github.grpcidempotency.postgres;

import io.github.grpcidempotency.postgres.HostTransaction.Completion;
import io.github.grpcidempotency.postgres.JoinedAnswer.State;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.ClaimRequest;
import io.github.grpcidempotency.store.RecordedOutcome;
import io.github.grpcidempotency.store.StoreTransaction;
import io.github.grpcidempotency.store.TransactionMisuseException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jdbi.v3.core.JdbiException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A claim that is a committed reservation in the table: a lease, fenced by its attempt. It is
 * settled by itself, unless the handler's own transaction records the answer.
 */
final class Reservation implements Claim {
  private static final Logger logger = LoggerFactory.getLogger(Reservation.class);

  private final RecordDatabase database;
  private final ReservedRow row;
  private final Instant expires;

  /** What the handler's own transaction records, if it does. */
  private volatile Optional<JoinedAnswer> joined = Optional.empty();

  /** The id of the transaction of the handler's that has locked the row, if one has. */
  private volatile Optional<String> lockedBy = Optional.empty();

  /** Another owner has the row. */
  private volatile boolean lost;

  /** The handler has answered with an error. */
  private volatile boolean failing;

  /** The host transaction in which the handler answered with an error has changed something. */
  private volatile boolean changed;

  /** The end of the host transaction in which the handler answered without recording. */
  private volatile Completion answeredIn = Completion.COMMITTED;

  Reservation(
      RecordDatabase database,
      ClaimRequest request,
      UUID id,
      int attempt,
      Instant expires,
      Optional<String> timeLine) {
    this.database = database;
    this.row = new ReservedRow(database, request, id, attempt, timeLine);
    this.expires = expires;
  }

  @Override
  public ClaimRequest request() {
    return row.request();
  }

  @Override
  public UUID operationId() {
    return row.id();
  }

  @Override
  public int attempt() {
    return row.attempt();
  }

  @Override
  public Instant expires() {
    return expires;
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
    if (outcome instanceof RecordedOutcome.Failure) {
      return settleAlone(outcome);
    }
    return switch (answeredIn) {
      case COMMITTED -> settleAlone(outcome);
      case ROLLED_BACK -> releaseUncommitted();
      case UNKNOWN -> keepUnknown();
    };
  }

  private Settled settleAlone(RecordedOutcome outcome) {
    return joined
        .flatMap(answer -> settledWith(answer, outcome))
        .orElseGet(() -> beside("record the answer", connection -> complete(connection, outcome)));
  }

  /** Runs statements, which would wait if a transaction of the handler's has locked the row. */
  private <T> T beside(String what, Function<Connection, T> statements) {
    return database.inStore(
        what,
        connection -> {
          checkUnlocked(connection);
          return statements.apply(connection);
        });
  }

  /** A transaction whose commit got no answer may still be committing, which is not misuse. */
  private void checkUnlocked(Connection connection) {
    boolean committing = joined.filter(answer -> answer.state() == State.UNKNOWN).isPresent();
    if (!committing && lockedBy.filter(locking -> row.isOpen(connection, locking)).isPresent()) {
      throw new TransactionMisuseException(
          ("operation %s is answered while the transaction is open that has called"
                  + " TransactionalCompletion.lock: commit it or roll it back before the handler"
                  + " answers")
              .formatted(row.id()));
    }
  }

  /** Returns how the claim is settled by what its handler's transaction did; empty if it is not. */
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
   * An answer whose transaction has not recorded it must not be recorded now, without the effect.
   * Waits for a transaction that the database still ends.
   */
  private Settled settleUncommitted(JoinedAnswer answer, RecordedOutcome sent) {
    Settled settled = releaseUncommitted();
    return settled == Settled.DONE ? checkJoined(answer.outcome(), sent) : settled;
  }

  private Settled releaseUncommitted() {
    Settled settled =
        beside(
            "release the key after the handler's rollback",
            connection -> {
              if (row.release(connection)) {
                return Settled.ROLLED_BACK;
              }
              return row.isCompleted(connection) ? Settled.DONE : Settled.LOST;
            });
    if (settled == Settled.ROLLED_BACK) {
      logger.warn("operation {} answered OK, but its transaction was rolled back", row.id());
    }
    return settled;
  }

  /** The effect may be there, so the key is not free before the lease ends. */
  private Settled keepUnknown() {
    logger.warn(
        "operation {} answered OK, but the host does not know whether its transaction was"
            + " committed: the key stays reserved until its lease ends",
        row.id());
    return beside("mark the outcome as unknown", row::markUnknown) ? Settled.UNKNOWN : Settled.LOST;
  }

  @Override
  public boolean deferSettlement(Runnable settlement) {
    return joined.isPresent() ? joined.get().defer(settlement) : deferToOpenTransaction(settlement);
  }

  /**
   * A handler that answers within a transaction of the host may still lose its effect: its answer
   * must wait for the commit, although another transaction will record it.
   */
  private boolean deferToOpenTransaction(Runnable settlement) {
    Optional<HostTransaction> open = database.hosts().flatMap(HostTransactions::current);
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
          "operation {} is answered in a transaction without a future", row.id(), rollbackOnly);
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
    return settle("release the key", row::release);
  }

  @Override
  public Settled markUnknown() {
    return settle("mark the outcome as unknown", row::markUnknown);
  }

  /** Returns where its record is. */
  RecordDatabase database() {
    return database;
  }

  /** Returns whether the handler's own transaction has recorded the answer, or is about to. */
  boolean isJoined() {
    return joined.filter(answer -> answer.state() != State.ROLLED_BACK).isPresent();
  }

  /**
   * Locks the row in the handler's own transaction, so that no other transaction can touch it any
   * more.
   *
   * @throws ClaimLostException if the fence stands against it
   */
  void lockWithin(Connection connection) {
    try {
      lockedBy = Optional.of(row.lock(connection));
    } catch (JdbiException failure) {
      throw Refusal.of(failure).equals(Optional.of(Refusal.CLAIM_LOST)) ? claimLost() : failure;
    }
  }

  /**
   * Records a response in the handler's own transaction and commits the transaction. If either
   * fails, it is unknown here whether the transaction was committed, so the settlement reads the
   * record. A transaction that is still open is rolled back, so that the handler cannot commit it
   * without the record: the driver's {@code autosave} may have kept the transaction usable.
   *
   * @throws ClaimLostException if the fence stands against it
   * @throws TransactionMisuseException if the transaction's snapshot may be older than the row's
   *     last renewal
   */
  void commitWithin(Connection connection, RecordedOutcome outcome) {
    JoinedAnswer answer = JoinedAnswer.sent(outcome);
    joined = Optional.of(answer);
    try {
      record(connection, row.joining().withCommit(), outcome);
    } catch (RuntimeException failure) {
      rollBack(connection);
      throw failure;
    }
    answer.recorded();
    answer.ended(Completion.COMMITTED);
  }

  private static void rollBack(Connection connection) {
    try {
      connection.rollback();
    } catch (SQLException broken) {
      logger.debug("could not roll the handler's transaction back; the database does", broken);
    }
  }

  /** Records a response in a transaction of the host's, just before it commits. */
  void completeAtEndOf(
      HostTransaction transaction, Connection connection, RecordedOutcome outcome) {
    JoinedAnswer answer = JoinedAnswer.ofHost(outcome);
    transaction.afterCompletion(answer::ended);
    transaction.beforeCommit(() -> recordLatest(transaction, connection, answer));
    joined = Optional.of(answer);
  }

  /**
   * Of the answers that one transaction has registered the latest counts, so an earlier one leaves
   * the record to it. A later one in another transaction counts if that was committed.
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
                "operation %s is completed by two transactions, of which one is committed"
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
    if (Failures.isSerializationFailure(failure) && lockedBy.isEmpty()) {
      return staleSnapshot();
    }
    Optional<Refusal> refusal = Refusal.of(failure);
    if (refusal.isEmpty()) {
      return failure;
    }
    return switch (refusal.get()) {
      case CLAIM_LOST -> claimLost();
      case STALE_SNAPSHOT -> staleSnapshot();
      case TRANSACTION_ENDED -> failure;
    };
  }

  private ClaimLostException claimLost() {
    lost = true;
    return new ClaimLostException(row.id());
  }

  private static TransactionMisuseException staleSnapshot() {
    return new TransactionMisuseException(
        "the handler's transaction is repeatable read or serializable and cannot record once the"
            + " lease is renewed beside it: call TransactionalCompletion.lock before anything else"
            + " in it, or make it read committed");
  }

  /**
   * Compares the answer with what the handler's transaction has recorded; there is nothing to
   * write.
   */
  private Settled checkJoined(RecordedOutcome recorded, RecordedOutcome sent) {
    if (recorded.equals(sent)) {
      return Settled.DONE;
    }
    throw new TransactionMisuseException(
        "operation %s answers something else than its transaction recorded".formatted(row.id()));
  }

  /** The effect is committed without it, so it is recorded as early as may be. */
  private Settled recordLate(JoinedAnswer answer) {
    logger.error("a call has lost its protection", unrecorded());
    return beside("record the answer", connection -> complete(connection, answer.outcome()));
  }

  private TransactionMisuseException unrecorded() {
    return new TransactionMisuseException(
        ("the host has committed without running what was registered before the commit; operation"
                + " %s was recorded after it: its HostTransactions are at fault")
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
          "the database failed over while the handler of operation {} ran, and may have lost the"
              + " handler's writes: the answer is not recorded, and a retry runs the handler again"
              + " once the lease has ended",
          row.id());
    }
    return Settled.LOST;
  }

  private Settled settle(String what, Predicate<Connection> statement) {
    if (lost) {
      return Settled.LOST;
    }
    Optional<JoinedAnswer> unrecorded = joined.filter(answer -> answer.state() == State.UNRECORDED);
    if (unrecorded.isPresent()) {
      return recordLate(unrecorded.get());
    }
    return beside(
        what,
        connection ->
            statement.test(connection) || (joined.isPresent() && row.isCompleted(connection))
                ? Settled.DONE
                : Settled.LOST);
  }
}
