package io.github.grpcidempotency.postgres;

import com.github.f4b6a3.uuid.UuidCreator;
import io.github.grpcidempotency.procedure.IdempotencyStatus;
import io.github.grpcidempotency.store.ClaimRequest;
import io.github.grpcidempotency.store.ClaimResult;
import io.github.grpcidempotency.store.StoreException;
import java.util.Optional;
import java.util.UUID;
import org.jdbi.v3.core.JdbiException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One claim of a reservation:
 *
 * <ol>
 *   <li>Insert the reservation, or see what stands there: one flush, and usually the only one.
 *   <li>What stands there has expired: replace it, or see who was faster.
 *   <li>What stands there is the same request, abandoned by its owner: take it over.
 *   <li>What stood there is gone: start again.
 * </ol>
 *
 * <p>The reservation's id is ours from the start, so a flush whose answer was lost is sent again: a
 * row with this id is ours. If that fails as well, nobody knows whether the key is held: the
 * failure says that it may be.
 */
final class Claiming {
  private static final Logger logger = LoggerFactory.getLogger(PostgresIdempotencyStore.class);
  private static final int MOST_ROUNDS = 10;

  private final PostgresIdempotencyStore store;
  private final ClaimRequest request;
  private final ProcedureSql sql;
  private final UUID id = UuidCreator.getTimeOrderedEpochFast();

  /** Whether somebody else was seen with the key, or may have been. */
  private boolean maybeHeld;

  /** Whether the last look asked the outbox. */
  private boolean outboxAsked;

  Claiming(PostgresIdempotencyStore store, ClaimRequest request) {
    this.store = store;
    this.request = request;
    this.sql = store.sql(request.procedure());
  }

  ClaimResult run() {
    try {
      return claim();
    } catch (JdbiException failure) {
      throw new StoreException(
          "could not claim the key", failure, maybeHeld || Failures.isWaitInVain(failure));
    }
  }

  private ClaimResult claim() {
    Optional<StandingRow> standing = reserve(sql.claim());
    for (int round = 0; round < MOST_ROUNDS; round++) {
      Optional<ClaimResult> result = standing.flatMap(this::settleOn);
      if (result.isPresent()) {
        return result.get();
      }
      boolean expired = standing.map(StandingRow::expired).orElse(false);
      standing = reserve(expired ? sql.reclaim() : sql.claim());
    }
    return standing
        .<ClaimResult>map(row -> new ClaimResult.InFlight(row.inFlight()))
        .orElseThrow(() -> new StoreException("the key changed hands too often", null, true));
  }

  /** Returns what a standing row makes of this claim; empty if it has to be looked at again. */
  private Optional<ClaimResult> settleOn(StandingRow row) {
    if (row.id().equals(id)) {
      return Optional.of(won(row, row.attempt()));
    }
    maybeHeld = true;
    if (row.expired()) {
      return Optional.empty();
    }
    if (row.ended()) {
      return Optional.of(row.recorded(status(row)));
    }
    if (row.isAbandoned() && row.isSameRequestAs(request)) {
      return takeOver(row).map(attempt -> won(row, attempt));
    }
    return Optional.of(new ClaimResult.InFlight(row.inFlight()));
  }

  private Optional<StandingRow> reserve(String statement) {
    try {
      return flush(statement);
    } catch (JdbiException failure) {
      if (Failures.isCutOff(failure)) {
        maybeHeld = true;
        return flush(statement);
      }
      if (Failures.isFromDatabase(failure) && !statement.equals(sql.claimWithoutStatus())) {
        return reserveWithoutStatus(failure);
      }
      throw failure;
    }
  }

  /**
   * The outbox query is to blame if the claim does without it. A record may be what made the query
   * run, so a database that is gone by now leaves open whether there is one.
   */
  private Optional<StandingRow> reserveWithoutStatus(JdbiException blamed) {
    Optional<StandingRow> standing;
    try {
      standing = flush(sql.claimWithoutStatus());
    } catch (JdbiException failure) {
      maybeHeld |= !Failures.isFromDatabase(failure);
      throw failure;
    }
    logger.warn(
        "the outbox query of {} failed; its status is given as processing",
        request.procedure().name(),
        blamed);
    return standing;
  }

  private IdempotencyStatus status(StandingRow row) {
    return row.status(
        request.procedure(),
        outbox -> outboxAsked ? outbox.statusOf(row.outboxStatus()) : IdempotencyStatus.PROCESSING);
  }

  private Optional<StandingRow> flush(String statement) {
    outboxAsked = statement.equals(sql.claim());
    return store.onConnection(
        connection ->
            Flush.run(connection, statement, values -> bind(values, id), StandingRow::read));
  }

  private Optional<Integer> takeOver(StandingRow row) {
    return store.onConnection(
        connection ->
            Flush.run(
                connection,
                store.reservationSql().takeOver(),
                values ->
                    bind(values, row.id())
                        .bind("attempt", row.attempt())
                        .bind("hash", row.fingerprint().hash().toByteArray())
                        .bind("hash_version", row.fingerprint().version()),
                taken -> taken.getInt("attempt")));
  }

  private Parameters bind(Parameters values, UUID operation) {
    return Binding.of(values, request, operation).bind("lease_millis", store.lease().toMillis());
  }

  private ClaimResult won(StandingRow row, int attempt) {
    return new ClaimResult.Won(new Reservation(store, request, row.id(), attempt, row.expires()));
  }
}
