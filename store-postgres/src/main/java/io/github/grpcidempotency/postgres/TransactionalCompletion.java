package io.github.grpcidempotency.postgres;

import com.google.protobuf.Message;
import io.github.grpcidempotency.postgres.internal.claim.JoinedCompletion;
import io.github.grpcidempotency.postgres.internal.claim.Reservation;
import io.github.grpcidempotency.postgres.internal.sql.Failures;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.store.TransactionMisuseException;
import io.github.grpcidempotency.store.handler.CurrentHandler;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.JdbiException;
import org.jdbi.v3.core.transaction.TransactionException;
import org.postgresql.PGConnection;

/**
 * Writes the record of a reserved call in the handler's own transaction, so that no crash can
 * separate effect and record. The handler returns the same response once the transaction is
 * committed. The interceptor writes nothing more. There are two ways to record, each at the end of
 * the transaction:
 *
 * <ul>
 *   <li>{@link #completeAndCommit(Handle, Message)} records and commits in one round trip. For a
 *       handler that ends its transaction itself, with Jdbi or plain JDBC.
 *   <li>{@link #complete(Message)} is for a handler that writes through the host's transactions,
 *       with {@link HostTransactions}. The host commits.
 * </ul>
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
 * jdbi.useTransaction(
 *     TransactionIsolationLevel.SERIALIZABLE,
 *     handle -> {
 *       TransactionalCompletion.lock(handle);
 *       …
 *       TransactionalCompletion.completeAndCommit(handle, response);
 *     });
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
   * @param handle the handle of the handler's transaction, which is open and has run no statement
   *     yet
   * @throws ClaimLostException if another server has taken over; the transaction must roll back
   * @throws IllegalStateException if the handle has no transaction open, or the procedure is
   *     transactional and records by itself
   * @throws org.jdbi.v3.core.JdbiException if the database fails; after a serialization failure,
   *     retry the transaction
   */
  public static void lock(Handle handle) {
    lockWithin(handle.getConnection());
  }

  /**
   * Locks the record of the current call through a plain JDBC connection, as {@link #lock(Handle)}
   * does.
   *
   * @throws SQLException if the database fails; after a serialization failure, retry the
   *     transaction
   */
  public static void lock(Connection connection) throws SQLException {
    plainly(() -> lockWithin(connection));
  }

  private static void lockWithin(Connection connection) {
    Optional<JoinedCompletion> call = currentCall();
    if (call.isPresent()) {
      checkTransaction(connection);
      call.get().lockWithin(connection);
    }
  }

  /**
   * Locks the record of the current call in the current thread's transaction of the host, as {@link
   * #lock(Handle)} does.
   *
   * @throws IllegalStateException if the store was built without {@link HostTransactions}, if the
   *     thread has no transaction, or if the procedure is transactional and records by itself
   * @throws StoreException if the database fails; after a serialization failure, retry the
   *     transaction
   */
  public static void lock() {
    try {
      currentCall().ifPresent(call -> call.lockWithin(connectionOf(host(call))));
    } catch (JdbiException failure) {
      throw Failures.of("could not lock the record", failure);
    }
  }

  /**
   * Records the response of the current call in the handler's transaction and commits it, in one
   * round trip. This ends the transaction; later statements on the connection belong to another
   * transaction.
   *
   * <p>{@code Jdbi.inTransaction} and {@code useTransaction} commit again when they return, and
   * after {@code Handle.begin()}, {@code Handle.commit()} is still necessary; this second commit
   * sends nothing.
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
   * @param handle the handle of the handler's open transaction, on the database of the store
   * @throws ClaimLostException if another server has taken over; nothing is committed
   * @throws TransactionMisuseException if the transaction is {@code REPEATABLE READ} or {@code
   *     SERIALIZABLE} and has not called {@link #lock}; nothing is committed
   * @throws IllegalStateException if the handle has no transaction open, if that is a transaction
   *     of the host, or if the procedure is transactional and records by itself
   * @throws org.jdbi.v3.core.JdbiException if the database fails, or refuses the commit
   */
  public static void completeAndCommit(Handle handle, Message response) {
    recordAndCommit(handle.getConnection(), response);
  }

  /**
   * Records the response of the current call through a plain JDBC connection and commits, as {@link
   * #completeAndCommit(Handle, Message)} does. No {@code Connection.commit()} needs to follow.
   *
   * @throws SQLException if the database fails, or refuses the commit
   */
  public static void completeAndCommit(Connection connection, Message response)
      throws SQLException {
    plainly(() -> recordAndCommit(connection, response));
  }

  /** Throws a failure of the database as the driver has thrown it. */
  private static void plainly(Runnable statements) throws SQLException {
    try {
      statements.run();
    } catch (JdbiException failure) {
      throw Failures.asSqlException(failure);
    }
  }

  private static void recordAndCommit(Connection connection, Message response) {
    Optional<JoinedCompletion> call = currentCall();
    checkTransaction(connection);
    if (call.isPresent()) {
      checkOwnedByHandler(call.get(), connection);
      call.get().commitWithin(connection, CurrentHandler.keptOf(response));
    }
    commit(connection);
  }

  /**
   * Tells wrappers of the connection that the transaction has ended. The driver sends nothing,
   * because it knows the transaction's end.
   */
  private static void commit(Connection connection) {
    try {
      connection.commit();
    } catch (SQLException failure) {
      throw new TransactionException("could not commit the handler's transaction", failure);
    }
  }

  private static void checkOwnedByHandler(JoinedCompletion call, Connection connection) {
    Optional<Connection> host =
        call.hosts().flatMap(HostTransactions::current).map(HostTransaction::connection);
    if (host.isPresent() && isSame(host.get(), connection)) {
      throw new IllegalStateException(
          "this transaction belongs to the host, which commits it: call"
              + " TransactionalCompletion.complete(response)");
    }
  }

  private static boolean isSame(Connection one, Connection other) {
    try {
      return one == other
          || (one.isWrapperFor(PGConnection.class)
              && other.isWrapperFor(PGConnection.class)
              && one.unwrap(PGConnection.class) == other.unwrap(PGConnection.class));
    } catch (SQLException failure) {
      throw new TransactionException("could not record the answer within the transaction", failure);
    }
  }

  /**
   * Records the response of the current call in the current thread's transaction of the host, just
   * before the host commits. The handler may answer before that: the client gets the answer after
   * the commit. If the transaction is rolled back although the handler answers {@code OK}, the
   * client gets {@code INTERNAL}, and a retry runs the handler. Does nothing for a call without a
   * key, or a call that runs unprotected during an outage of the store.
   *
   * <p>The host's commit fails with {@link ClaimLostException} if another server has taken over,
   * and with {@link TransactionMisuseException} if the transaction is {@code REPEATABLE READ} or
   * {@code SERIALIZABLE} and has not called {@link #lock()}. If the database fails, the cause is a
   * {@link StoreException} or the driver's exception.
   *
   * @throws IllegalStateException if the store was built without {@link HostTransactions}, if the
   *     thread has no transaction, or if the procedure is transactional and records by itself
   */
  public static void complete(Message response) {
    currentCall().ifPresent(call -> complete(call, response));
  }

  private static void complete(JoinedCompletion call, Message response) {
    HostTransaction transaction = host(call);
    call.completeAtEndOf(transaction, connectionOf(transaction), CurrentHandler.keptOf(response));
  }

  private static HostTransaction host(JoinedCompletion call) {
    return call.hosts()
        .orElseThrow(
            () ->
                new IllegalStateException(
                    "the store was built without HostTransactions and cannot find the transaction"
                        + " of this thread: pass the transaction's connection or handle"))
        .current()
        .orElseThrow(
            () ->
                new IllegalStateException(
                    "this thread has no transaction of the host, so no answer can be recorded in"
                        + " it: call this method inside the transaction, on the thread that began"
                        + " it"));
  }

  private static Connection connectionOf(HostTransaction transaction) {
    Connection connection = transaction.connection();
    checkTransaction(connection);
    return connection;
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

  private static void checkTransaction(Connection connection) {
    try {
      if (connection.getAutoCommit()) {
        throw new IllegalStateException(
            "the handle has no open transaction to record the answer in: call this method"
                + " inside the transaction");
      }
    } catch (SQLException failure) {
      throw new TransactionException("could not record the answer within the transaction", failure);
    }
  }
}
