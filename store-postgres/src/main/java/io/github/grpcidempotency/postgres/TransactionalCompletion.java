package io.github.grpcidempotency.postgres;

import com.google.protobuf.Message;
import io.github.grpcidempotency.grpc.CurrentCall;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.TransactionMisuseException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.transaction.TransactionException;

/**
 * Joins a reserved call's record to its handler's own transaction, so that no crash can separate
 * effect and record. The handler calls it inside the transaction, commits, and then answers with
 * the very same response; the interceptor writes nothing more.
 *
 * <p>Call {@link #complete} last in the transaction: it locks the record's row. If the transaction
 * is tried again, call it again. A handler that fails after its commit has its recorded response
 * replayed to retries; one that fails before is retried.
 *
 * <p>A transaction that is {@code REPEATABLE READ} or {@code SERIALIZABLE} keeps the snapshot that
 * it began with, and cannot change a row that was changed since; and the row of a call that runs is
 * changed with every renewal of its lease. So it calls {@link #lock} first:
 *
 * <pre>{@code
 * jdbi.useTransaction(
 *     TransactionIsolationLevel.SERIALIZABLE,
 *     handle -> {
 *       TransactionalCompletion.lock(handle);
 *       …
 *       TransactionalCompletion.complete(handle, response);
 *     });
 * }</pre>
 */
public final class TransactionalCompletion {
  private TransactionalCompletion() {}

  /**
   * Locks the record of the current call until the transaction ends: nobody renews its lease any
   * more, and nobody takes it over. Costs a round trip; a {@code READ COMMITTED} transaction does
   * not need it. Sets {@code app.current_user_id} for the transaction, and does nothing for a call
   * without a key, or one that runs unguarded during an outage of the store.
   *
   * @param handle has the handler's transaction open, in which nothing was done yet
   * @throws ClaimLostException if another server has taken over; the transaction must roll back
   * @throws IllegalStateException if the handle has no transaction open, or the procedure is
   *     transactional and records by itself
   * @throws org.jdbi.v3.core.JdbiException if the database fails; a serialization failure, as ever,
   *     wants the transaction to be tried again
   */
  public static void lock(Handle handle) {
    lock(handle.getConnection());
  }

  /**
   * Locks the record of the current call through a plain JDBC connection, as {@link #lock(Handle)}
   * does.
   */
  public static void lock(Connection connection) {
    reservation(connection).ifPresent(reservation -> reservation.lockWithin(connection));
  }

  /**
   * Records the response of the current call through a handle of the handler's. Does nothing for a
   * call without a key, or one that runs unguarded during an outage of the store.
   *
   * @param handle has the handler's transaction open, on the database of the store
   * @throws ClaimLostException if another server has taken over; the transaction must roll back
   * @throws TransactionMisuseException if the transaction is {@code REPEATABLE READ} or {@code
   *     SERIALIZABLE} and has not called {@link #lock}; it must roll back
   * @throws IllegalStateException if the handle has no transaction open, or the procedure is
   *     transactional and records by itself
   * @throws org.jdbi.v3.core.JdbiException if the database fails
   */
  public static void complete(Handle handle, Message response) {
    complete(handle.getConnection(), response);
  }

  /**
   * Records the response of the current call through a plain JDBC connection, as {@link
   * #complete(Handle, Message)} does.
   */
  public static void complete(Connection connection, Message response) {
    reservation(connection)
        .ifPresent(
            reservation -> reservation.completeWithin(connection, CurrentCall.keptOf(response)));
  }

  private static Optional<Reservation> reservation(Connection connection) {
    Optional<Claim> claim = CurrentCall.claim();
    if (claim.isEmpty()) {
      return Optional.empty();
    }
    if (!(claim.get() instanceof Reservation reservation)) {
      throw new IllegalStateException(
          claim.get().request().procedure().name()
              + " is transactional: the interceptor records its response");
    }
    checkTransaction(connection);
    return Optional.of(reservation);
  }

  private static void checkTransaction(Connection connection) {
    try {
      if (connection.getAutoCommit()) {
        throw new IllegalStateException("the handle has no transaction open to record within");
      }
    } catch (SQLException failure) {
      throw new TransactionException("could not record within the transaction", failure);
    }
  }
}
