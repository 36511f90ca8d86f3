package io.github.grpcidempotency.postgres.internal.transaction;

import io.github.grpcidempotency.postgres.internal.database.RecordDatabase;
import io.github.grpcidempotency.postgres.internal.sql.ProcedureSql;
import io.github.grpcidempotency.postgres.internal.sql.StatementBatch;
import io.github.grpcidempotency.store.ClaimRequest;
import io.github.grpcidempotency.store.RecordedOutcome;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Optional;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A claim that is made by its record, in the flush that commits the handler's effect:
 *
 * <ol>
 *   <li>The unique index decides between two calls. The flush of the second fails, so its effect is
 *       rolled back. A lock keeps duplicates from waiting for the index.
 *   <li>If the handler answers an error, or its transaction cannot be committed, another call of
 *       the key may be the reason, as when both insert the same name. So the key is looked up
 *       before the error is answered.
 * </ol>
 *
 * <p>In all these cases the claim is preempted. It is preempted, too, if the look-up fails: the
 * claim before the handler, which follows, then decides.
 */
public final class ClaimAtCommit extends TransactionalClaim {
  private static final Logger logger = LoggerFactory.getLogger(ClaimAtCommit.class);

  private volatile Instant expires;

  private ClaimAtCommit(
      ProcedureSql sql, ClaimRequest request, UUID id, HandlerTransaction transaction) {
    super(sql, request, id, Instant.now().plus(request.retention()), transaction, Optional.empty());
    this.expires = super.expires();
  }

  /** Opens a transaction for a claim, and sends nothing. */
  public static ClaimAtCommit open(RecordDatabase database, ClaimRequest request) {
    // Before the transaction takes its connection, because this may need a connection, too.
    ProcedureSql sql = database.sql(request.procedure());
    UUID id = database.ids().next();
    HandlerTransaction transaction = HandlerTransaction.open(database, request.procedure().name());
    boolean owned = false;
    try {
      transaction.beginLater();
      ClaimAtCommit claim = new ClaimAtCommit(sql, request, id, transaction);
      owned = true;
      return claim;
    } finally {
      if (!owned) {
        transaction.rollback();
      }
    }
  }

  @Override
  public boolean isOptimistic() {
    return true;
  }

  @Override
  public Instant expires() {
    return expires;
  }

  @Override
  public Settled complete(RecordedOutcome outcome) {
    Settled settled = super.complete(outcome);
    return switch (settled) {
      case LOST -> Settled.PREEMPTED;
      case ROLLED_BACK -> hasOwner() ? Settled.PREEMPTED : Settled.ROLLED_BACK;
      default -> settled;
    };
  }

  @Override
  Settled record(RecordedOutcome outcome) {
    return transaction.finish(
        sql.recordAtCommit,
        values -> bind(values.bindOutcome(outcome)),
        row -> {
          expires = row.getObject("expires", OffsetDateTime.class).toInstant();
          return row.getBoolean("taken");
        });
  }

  @Override
  public Settled release() {
    return hasOwner() ? Settled.PREEMPTED : Settled.DONE;
  }

  /** Rolls back. Returns whether another call has the key, or may have it. */
  private boolean hasOwner() {
    try {
      StatementBatch.Ends<Boolean, Boolean> found =
          transaction.rollbackAnd(
              connection ->
                  StatementBatch.runForBoth(
                      connection,
                      sql.findOwner,
                      this::bind,
                      row -> row.getBoolean("owned"),
                      row -> true));
      return found.first() || found.last().isPresent();
    } catch (RuntimeException | Error failure) {
      logger.debug("could not find out who owns the key of operation {}", operationId(), failure);
      return true;
    }
  }
}
