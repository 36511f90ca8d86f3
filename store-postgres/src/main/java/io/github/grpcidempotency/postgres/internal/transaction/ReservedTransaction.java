package io.github.grpcidempotency.postgres.internal.transaction;

import io.github.grpcidempotency.postgres.internal.claim.ReservationAttempt;
import io.github.grpcidempotency.postgres.internal.claim.ReservedRow;
import io.github.grpcidempotency.postgres.internal.database.Contention;
import io.github.grpcidempotency.postgres.internal.database.RecordDatabase;
import io.github.grpcidempotency.postgres.internal.sql.Failures;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.ClaimRequest;
import io.github.grpcidempotency.store.ClaimResult;
import io.github.grpcidempotency.store.FailurePhase;
import io.github.grpcidempotency.store.RecordedOutcome;
import java.sql.Connection;
import java.time.OffsetDateTime;
import java.util.Optional;
import org.jdbi.v3.core.JdbiException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A transactional claim for a database without advisory locks:
 *
 * <ol>
 *   <li>Reserve the key, and commit the reservation. It keeps duplicates out, and its lease is
 *       renewed while the handler runs.
 *   <li>Open the transaction that the handler writes through.
 *   <li>In this transaction, complete the reservation if its attempt is still the current one, and
 *       commit. So effect and record are one commit, and if another server has taken over, the
 *       transaction rolls back.
 * </ol>
 *
 * <p>If the handler fails, the transaction rolls back and the key is released. After a crash, or if
 * the outcome of the commit is unknown, the reservation stays until its lease ends.
 */
public final class ReservedTransaction extends TransactionClaim {
  private static final Logger logger = LoggerFactory.getLogger(ReservedTransaction.class);

  private final RecordDatabase database;
  private final ReservedRow row;

  /**
   * The value that {@link #expires()} would have if this transaction had written the record; used
   * to recognise the transaction.
   */
  private final OffsetDateTime begun;

  private ReservedTransaction(
      RecordDatabase database,
      Claim reservation,
      HandlerTransaction transaction,
      OffsetDateTime begun) {
    super(
        reservation.request(),
        reservation.operationId(),
        reservation.attempt(),
        reservation.expires(),
        reservation.resourceIdType(),
        transaction);
    this.database = database;
    this.row = rowOf(database, reservation);
    this.begun = begun;
  }

  public static ClaimResult claim(RecordDatabase database, ClaimRequest request) {
    ClaimResult result = new ReservationAttempt(database, request).run();
    return result instanceof ClaimResult.Won won
        ? new ClaimResult.Won(begin(database, won.claim()))
        : result;
  }

  private static ReservedTransaction begin(RecordDatabase database, Claim reservation) {
    try {
      return Contention.retrying(() -> open(database, reservation));
    } catch (JdbiException failure) {
      releaseQuietly(database, rowOf(database, reservation));
      throw Failures.of("could not open a transaction", failure, FailurePhase.ANSWER_LOST);
    }
  }

  private static ReservedTransaction open(RecordDatabase database, Claim reservation) {
    HandlerTransaction transaction =
        HandlerTransaction.open(database, reservation.request().procedure().name());
    try {
      OffsetDateTime begun =
          transaction.begin(
              connection -> rowOf(database, reservation).beginTransaction(connection));
      return new ReservedTransaction(database, reservation, transaction, begun);
    } catch (RuntimeException failure) {
      transaction.rollback();
      throw failure;
    }
  }

  private static ReservedRow rowOf(RecordDatabase database, Claim reservation) {
    return new ReservedRow(
        database,
        reservation.request(),
        reservation.operationId(),
        reservation.attempt(),
        Optional.empty());
  }

  @Override
  public Settled release() {
    return afterRollback(row::release);
  }

  @Override
  Settled record(RecordedOutcome answer) {
    Settled settled =
        transaction.finish(row.recording(), values -> row.bindRecording(values, answer, begun));
    if (settled != Settled.DONE) {
      releaseQuietly(database, row);
    }
    return settled;
  }

  @Override
  boolean recordFailure(Connection connection, RecordedOutcome.Failure failure) {
    return row.complete(connection, failure) != Settled.LOST;
  }

  /**
   * Releases the key, because the call has no effect. If that fails, the key is free when the lease
   * ends.
   */
  private static void releaseQuietly(RecordDatabase database, ReservedRow row) {
    try {
      boolean unused = database.onConnection(row::release);
    } catch (JdbiException leaseEnds) {
      logger.debug(
          "operation {} could not release its key, which stays reserved until its lease ends",
          row.id(),
          leaseEnds);
    }
  }
}
