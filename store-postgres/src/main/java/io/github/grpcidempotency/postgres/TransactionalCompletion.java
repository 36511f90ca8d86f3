package io.github.grpcidempotency.postgres;

import com.google.protobuf.Message;
import io.github.grpcidempotency.grpc.spi.CurrentHandler;
import io.github.grpcidempotency.postgres.internal.claim.JoinedCompletion;
import io.github.grpcidempotency.postgres.internal.claim.Reservation;
import io.github.grpcidempotency.postgres.internal.sql.Failures;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.store.ClaimLostException;
import io.github.grpcidempotency.store.TransactionMisuseException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import org.jdbi.v3.core.JdbiException;

/**
 * Writes the record of a reserved call in the handler's own transaction, so that no crash can
 * separate effect and record. For a handler that calls another system first, and then writes to the
 * store's database. A handler that only writes to this database should be {@code TRANSACTIONAL}.
 *
 * <p>The handler ends its transaction with {@link #completeAndCommit}, and returns the same
 * response. The interceptor writes nothing more. With Jdbi, pass {@code handle.getConnection()}.
 *
 * <p>If the response has another type than the method's response type, an {@link
 * IllegalArgumentException} is thrown before anything is sent. For work that did not arrive by
 * gRPC, the type is not checked.
 *
 * <p>If you retry the transaction, record again in the new transaction. If the handler fails after
 * its commit, retries get the recorded response; if it fails before, they run the handler again.
 *
 * <p>A {@code REPEATABLE READ} or {@code SERIALIZABLE} transaction must call {@link #lock} first.
 * Such a transaction cannot change a row that has changed since the transaction began, and every
 * renewal of the lease changes the row of a running call:
 *
 * <pre>{@code
 * connection.setAutoCommit(false);
 * TransactionalCompletion.lock(connection);
 * …
 * TransactionalCompletion.completeAndCommit(connection, response);
 * }</pre>
 */
public final class TransactionalCompletion {
  private TransactionalCompletion() {}

  /**
   * Locks the record of the current call until the transaction ends, so that no other transaction
   * renews its lease or takes it over. Costs a round trip. A {@code READ COMMITTED} transaction
   * does not need it. Sets {@code app.current_user_id} for the transaction, and does nothing for a
   * call without a key, or a call that runs unprotected during an outage of the store.
   *
   * <p>End the transaction before the handler answers. If the handler answers {@code OK} before
   * that, the client gets {@code INTERNAL}.
   *
   * @param connection the connection of the handler's transaction, which is open and has run no
   *     statement yet
   * @throws ClaimLostException if another server has taken over; the transaction must roll back
   * @throws IllegalStateException if the connection has no transaction open, or the procedure is
   *     transactional and records by itself
   * @throws SQLException if the database fails; after a serialization failure, retry the
   *     transaction
   */
  public static void lock(Connection connection) throws SQLException {
    Optional<JoinedCompletion> call = currentCall();
    if (call.isPresent()) {
      checkTransaction(connection);
      plainly(() -> call.get().lockWithin(connection));
    }
  }

  /**
   * Records the response of the current call in the handler's transaction and commits it, in one
   * round trip. This ends the transaction; later statements on the connection belong to another
   * transaction. No {@code Connection.commit()} needs to follow. {@code Jdbi.inTransaction} and
   * {@code useTransaction} commit again when they return, which sends nothing.
   *
   * <p>For a call without a key, and for a call that runs unprotected during an outage of the
   * store, the transaction is committed without a record.
   *
   * <p>If it throws one of the exceptions that are listed here, other than {@code
   * IllegalStateException}, the transaction is rolled back, and cannot be committed afterwards.
   *
   * <p>If it throws any other exception, or a connection breaks, the transaction may be committed:
   * let the handler fail. A retry then gets the recorded response, or runs the handler.
   *
   * @param connection the connection of the handler's open transaction, on the database of the
   *     store
   * @throws ClaimLostException if another server has taken over; nothing is committed
   * @throws TransactionMisuseException if the transaction is {@code REPEATABLE READ} or {@code
   *     SERIALIZABLE} and has not called {@link #lock}; nothing is committed
   * @throws IllegalStateException if the connection has no transaction open, if a transaction of
   *     the host is open on this thread, or if the procedure is transactional and records by itself
   * @throws SQLException if the database fails, or refuses the commit
   */
  public static void completeAndCommit(Connection connection, Message response)
      throws SQLException {
    Optional<JoinedCompletion> call = currentCall();
    checkTransaction(connection);
    if (call.isPresent()) {
      checkOwnedByHandler(call.get());
      plainly(() -> call.get().commitWithin(connection, CurrentHandler.keptOf(response)));
    }
    // Tells wrappers of the connection that the transaction has ended. The driver sends nothing.
    connection.commit();
  }

  /** Throws a failure of the database as the driver has thrown it. */
  private static void plainly(Runnable statements) throws SQLException {
    try {
      statements.run();
    } catch (JdbiException failure) {
      throw Failures.asSqlException(failure);
    }
  }

  private static void checkOwnedByHandler(JoinedCompletion call) {
    if (call.openOfHost().isPresent()) {
      throw new IllegalStateException(
          "a transaction of the host is open on this thread: the host commits its own transactions,"
              + " so end it, and use a connection of your own, or make the procedure"
              + " transactional");
    }
  }

  private static Optional<JoinedCompletion> currentCall() {
    Optional<Claim> claim = CurrentHandler.claim();
    if (claim.isPresent() && !(claim.get() instanceof Reservation)) {
      throw new IllegalStateException(
          claim.get().request().procedure().name()
              + " is transactional, so the interceptor records its response: remove the call of"
              + " TransactionalCompletion");
    }
    return claim.map(own -> ((Reservation) own).joined());
  }

  private static void checkTransaction(Connection connection) throws SQLException {
    if (connection.getAutoCommit()) {
      throw new IllegalStateException(
          "the connection has no open transaction to record the answer in: call this method"
              + " inside the transaction");
    }
  }
}
