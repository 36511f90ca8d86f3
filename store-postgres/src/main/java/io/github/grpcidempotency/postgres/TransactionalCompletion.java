package io.github.grpcidempotency.postgres;

import com.google.protobuf.Message;
import io.github.grpcidempotency.grpc.CurrentOperation;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.TransactionMisuseException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.transaction.TransactionException;

/**
 * Writes the record of a reserved call in the handler's own transaction, so that no crash can
 * separate effect and record. The handler calls it inside the transaction, commits, and then
 * answers with the same response. The interceptor writes nothing more.
 *
 * <p>Call {@link #complete} last in the transaction: it locks the record's row. If you retry the
 * transaction, call it again. If the handler fails after its commit, retries get the recorded
 * response; if it fails before, they run the handler again.
 *
 * <p>With {@link HostTransactions}, a handler that writes through the host's transactions passes no
 * connection: {@link #complete(Message)}.
 *
 * <p>A {@code REPEATABLE READ} or {@code SERIALIZABLE} transaction must call {@link #lock} first.
 * It cannot change a row that has changed since it began, and every renewal of the lease changes
 * the row of a running call:
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
   * Locks the record of the current call until the transaction ends, so that its lease is neither
   * renewed nor taken over. Costs a round trip. A {@code READ COMMITTED} transaction does not need
   * it. Sets {@code app.current_user_id} for the transaction, and does nothing for a call without a
   * key, or one that runs unguarded during an outage of the store.
   *
   * @param handle has the handler's transaction open, with nothing done in it yet
   * @throws ClaimLostException if another server has taken over; the transaction must roll back
   * @throws IllegalStateException if the handle has no transaction open, or the procedure is
   *     transactional and records by itself
   * @throws org.jdbi.v3.core.JdbiException if the database fails; after a serialization failure,
   *     retry the transaction
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
   * Locks the record of the current call in the host's transaction that the current thread has, as
   * {@link #lock(Handle)} does.
   *
   * @throws IllegalStateException if the store was built without {@link HostTransactions}, if the
   *     thread has no transaction, or if the procedure is transactional and records by itself
   */
  public static void lock() {
    reservation().ifPresent(reservation -> reservation.lockWithin(connectionOf(host(reservation))));
  }

  /**
   * Records the response of the current call in the handler's transaction. Does nothing for a call
   * without a key, or one that runs unguarded during an outage of the store.
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
            reservation ->
                reservation.completeWithin(connection, CurrentOperation.keptOf(response)));
  }

  /**
   * Records the response of the current call in the host's transaction that the current thread has,
   * just before it commits. The handler may answer before that: the client gets the answer after
   * the commit. If the transaction is rolled back and the handler answers {@code OK} all the same,
   * the client gets {@code INTERNAL}, and a retry runs. Does nothing for a call without a key, or
   * one that runs unguarded during an outage of the store.
   *
   * <p>The host's commit fails with {@link ClaimLostException} if another server has taken over,
   * and with {@link TransactionMisuseException} if the transaction is {@code REPEATABLE READ} or
   * {@code SERIALIZABLE} and has not called {@link #lock()}.
   *
   * @throws IllegalStateException if the store was built without {@link HostTransactions}, if the
   *     thread has no transaction, or if the procedure is transactional and records by itself
   */
  public static void complete(Message response) {
    reservation().ifPresent(reservation -> complete(reservation, response));
  }

  private static void complete(Reservation reservation, Message response) {
    HostTransaction transaction = host(reservation);
    reservation.completeAtEndOf(
        transaction, connectionOf(transaction), CurrentOperation.keptOf(response));
  }

  private static HostTransaction host(Reservation reservation) {
    return reservation.database().currentOfHost();
  }

  private static Connection connectionOf(HostTransaction transaction) {
    Connection connection = transaction.connection();
    checkTransaction(connection);
    return connection;
  }

  private static Optional<Reservation> reservation(Connection connection) {
    Optional<Reservation> reservation = reservation();
    if (reservation.isPresent()) {
      checkTransaction(connection);
    }
    return reservation;
  }

  private static Optional<Reservation> reservation() {
    Optional<Claim> claim = CurrentOperation.claim();
    if (claim.isEmpty()) {
      return Optional.empty();
    }
    if (!(claim.get() instanceof Reservation reservation)) {
      throw new IllegalStateException(
          claim.get().request().procedure().name()
              + " is transactional: the interceptor records its response");
    }
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
