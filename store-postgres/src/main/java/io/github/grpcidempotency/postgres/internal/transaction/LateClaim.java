package io.github.grpcidempotency.postgres.internal.transaction;

import io.github.grpcidempotency.postgres.ClaimPreemptedException;
import io.github.grpcidempotency.postgres.internal.carry.LeadingStatements;
import io.github.grpcidempotency.postgres.internal.database.RecordDatabase;
import io.github.grpcidempotency.postgres.internal.sql.Failures;
import io.github.grpcidempotency.postgres.internal.sql.LateClaimSql;
import io.github.grpcidempotency.postgres.internal.sql.Parameters;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.ClaimRequest;
import io.github.grpcidempotency.store.ClaimResult;
import io.github.grpcidempotency.store.PendingClaim;
import io.github.grpcidempotency.store.StoreTransaction;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Optional;
import java.util.UUID;
import org.postgresql.util.PSQLState;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A claim that is sent together with its handler's first statement, in front of it:
 *
 * <ol>
 *   <li>If the key is free, the claim is won, and becomes a {@link TransactionalClaim}.
 *   <li>If the claim finds a row for the key, or another transaction holds the key's lock, the
 *       claim raises an error, so that the handler's statement neither runs nor waits. The error
 *       does not distinguish the two cases: the claim is preempted, and the key is claimed again.
 *       The same happens if the connection breaks.
 *   <li>If anything else fails, it is unknown whether the claim or the handler's statement failed.
 *       The transaction has failed, and the claim counts as not made.
 *   <li>If the claim was not sent when its handler returns, it is sent then. The handler has
 *       written nothing through a transaction of the store, so the claim's own transaction replaces
 *       it. The host's transaction may still have to run statements that the handler deferred, so
 *       the claim is sent within it.
 * </ol>
 *
 * <p>The thread that opens the claim runs the handler, sends its statements and confirms the claim.
 * Other threads may read the claim's state.
 */
public final class LateClaim implements PendingClaim, LeadingStatements {
  private static final Logger logger = LoggerFactory.getLogger(LateClaim.class);
  private static final String REFUSED = "IK001";

  private final RecordDatabase database;
  private final ClaimRequest request;
  private final LateClaimSql sql;
  private final UUID id;
  private final HandlerTransaction opened;
  private final Thread thread = Thread.currentThread();
  private volatile State state = State.WAITING;
  private volatile Optional<TransactionalClaim> won = Optional.empty();
  private volatile boolean confirmed;

  private enum State {
    /** Nothing was sent. */
    WAITING,
    /** The first flush has failed. */
    FAILED,
    /** The handler's writes are rolled back. */
    PREEMPTED,
    WON
  }

  private LateClaim(
      RecordDatabase database, ClaimRequest request, LateClaimSql sql, HandlerTransaction opened) {
    this.database = database;
    this.request = request;
    this.id = database.ids().next();
    this.sql = sql;
    this.opened = opened;
  }

  /** Opens a transaction for a claim, and sends nothing. */
  public static LateClaim open(RecordDatabase database, ClaimRequest request) {
    // Before the transaction takes its connection, because this may need a connection, too.
    LateClaimSql sql = database.sql(request.procedure()).claimLate;
    HandlerTransaction transaction = HandlerTransaction.open(database, request.procedure().name());
    boolean owned = false;
    try {
      LateClaim claim = new LateClaim(database, request, sql, transaction);
      transaction.carryFirst(claim);
      owned = true;
      return claim;
    } finally {
      if (!owned) {
        transaction.rollback();
      }
    }
  }

  @Override
  public ClaimRequest request() {
    return request;
  }

  @Override
  public UUID operationId() {
    return id;
  }

  @Override
  public StoreTransaction transaction() {
    return opened;
  }

  @Override
  public boolean isWon() {
    return state == State.WON;
  }

  @Override
  public Optional<Claim> confirm() {
    opened.guard.end();
    try {
      Optional<Claim> claim = confirmWon();
      confirmed = claim.isPresent();
      return claim;
    } finally {
      if (!confirmed) {
        opened.rollback();
      }
    }
  }

  private Optional<Claim> confirmWon() {
    if (state == State.WAITING && opened instanceof HostedTransaction hosted) {
      hosted.sendLeading();
    }
    return switch (state) {
      case WON -> Optional.of(won.orElseThrow());
      case PREEMPTED -> Optional.empty();
      case WAITING -> claimByItself(opened instanceof HostedTransaction);
      case FAILED -> claimByItself(true);
    };
  }

  /**
   * Makes the claim after its handler has returned. The handler's earlier statements are rolled
   * back.
   *
   * @param failed whether a statement of the handler failed, so that the call must not succeed
   */
  private Optional<Claim> claimByItself(boolean failed) {
    opened.rollback();
    if (!(new TransactionAttempt(database, request, id).run() instanceof ClaimResult.Won made)
        || !(made.claim() instanceof TransactionalClaim claim)) {
      return Optional.empty();
    }
    claim.transaction.takeOver(opened);
    if (failed) {
      logger.debug(
          "the first statement of the handler has failed, so the handler must answer with"
              + " an error");
      claim.failed();
    }
    win(claim);
    return Optional.of(claim);
  }

  @Override
  public void close() {
    if (!confirmed) {
      opened.close();
    }
  }

  /**
   * Only the thread that runs the handler may use the connection. If another thread used it, the
   * call could end while the first statement is still running, and the driver would not yet report
   * a transaction. Throws an {@code SQLException}, because handlers already answer failures of the
   * database.
   */
  @Override
  public void checkThread() throws SQLException {
    Thread current = Thread.currentThread();
    if (current != thread) {
      throw new SQLException(
          ("%s: thread %s must not use this connection, and nothing was sent: the procedure claims"
                  + " with the handler's first statement, so only the thread that runs the handler,"
                  + " %s, can use the connection. Set ClaimTiming.BEFORE_HANDLER for a handler that"
                  + " uses other threads")
              .formatted(request.procedure().name(), current.getName(), thread.getName()),
          PSQLState.OBJECT_NOT_IN_STATE.getState());
    }
  }

  @Override
  public String inFrontOf(String statement) {
    return sql.inFrontOf(statement);
  }

  @Override
  public int parameters() {
    return sql.parameters.size();
  }

  @Override
  public void bind(PreparedStatement statement) throws SQLException {
    new Parameters(sql.parameters).bindOperation(request, id).setOn(statement);
  }

  @Override
  public boolean succeeded(PreparedStatement statement) throws SQLException {
    // Before the handler's result: BEGIN, unless the host begins; then both parts of the claim.
    if (sql.begins) {
      boolean unused = statement.getMoreResults();
    }
    Instant expires = readExpires(statement);
    statement.getResultSet().close();
    boolean rows = statement.getMoreResults();
    opened.begun();
    win(
        new TransactionalClaim(
            database.sql(request.procedure()), request, id, expires, opened, Optional.empty()));
    return rows;
  }

  private static Instant readExpires(PreparedStatement statement) throws SQLException {
    try (ResultSet claimed = statement.getResultSet()) {
      if (!claimed.next()) {
        throw new SQLException("the statements of a claim returned no row");
      }
      Instant expires = claimed.getObject("expires", OffsetDateTime.class).toInstant();
      boolean unused = statement.getMoreResults();
      return expires;
    }
  }

  private void win(TransactionalClaim claim) {
    won = Optional.of(claim);
    state = State.WON;
  }

  @Override
  public SQLException failed(SQLException failure) {
    opened.begun();
    if (isPreemption(failure)) {
      ClaimPreemptedException refusal = database.settings().preempted().apply(failure);
      state = State.PREEMPTED;
      opened.preempted(refusal);
      throw refusal;
    }
    state = State.FAILED;
    return failure;
  }

  private static boolean isPreemption(SQLException failure) {
    return REFUSED.equals(failure.getSQLState())
        || Failures.isCutOff(Failures.asJdbiException(failure));
  }

  @Override
  public void runAlone(Connection connection) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql.alone)) {
      bind(statement);
      boolean unused = statement.execute();
      boolean unusedRows = succeeded(statement);
    } catch (SQLException failure) {
      throw failed(failure);
    }
  }
}
