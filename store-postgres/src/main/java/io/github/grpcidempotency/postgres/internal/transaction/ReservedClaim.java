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
import java.time.Instant;
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
public final class ReservedClaim extends TransactionClaim {
  private static final Logger logger = LoggerFactory.getLogger(ReservedClaim.class);

  private final ReservedRow row;

  /**
   * The value that {@link #expires()} would have if this transaction had written the record; used
   * to recognise the transaction.
   */
  private final OffsetDateTime begun;

  private ReservedClaim(
      ReservedRow row, Instant expires, HandlerTransaction transaction, OffsetDateTime begun) {
    super(row.request(), row.id(), row.attempt(), expires, row.resourceIdType(), transaction);
    this.row = row;
    this.begun = begun;
  }

  public static ClaimResult claim(RecordDatabase database, ClaimRequest request) {
    ClaimResult result = new ReservationAttempt(database, request).run();
    return result instanceof ClaimResult.Won won
        ? new ClaimResult.Won(begin(database, won.claim()))
        : result;
  }

  private static ReservedClaim begin(RecordDatabase database, Claim reservation) {
    ReservedRow row =
        new ReservedRow(
            database,
            reservation.request(),
            reservation.operationId(),
            reservation.attempt(),
            Optional.empty());
    try {
      return Contention.retrying(() -> open(row, reservation.expires()));
    } catch (JdbiException failure) {
      releaseQuietly(row);
      throw Failures.of("could not open a transaction", failure, FailurePhase.ANSWER_LOST);
    }
  }

  private static ReservedClaim open(ReservedRow row, Instant expires) {
    HandlerTransaction transaction =
        HandlerTransaction.open(row.database(), row.request().procedure().name());
    try {
      OffsetDateTime begun = transaction.begin(row::beginTransaction);
      return new ReservedClaim(row, expires, transaction, begun);
    } catch (RuntimeException failure) {
      transaction.rollback();
      throw failure;
    }
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
      releaseQuietly(row);
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
  private static void releaseQuietly(ReservedRow row) {
    try {
      boolean unused = row.database().onConnection(row::release);
    } catch (JdbiException leaseEnds) {
      logger.debug(
          "operation {} could not release its key, which stays reserved until its lease ends",
          row.id(),
          leaseEnds);
    }
  }
}
