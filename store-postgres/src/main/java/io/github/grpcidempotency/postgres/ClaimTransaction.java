package io.github.grpcidempotency.postgres;

import io.github.grpcidempotency.grpc.CurrentCall;
import java.sql.Connection;
import org.jdbi.v3.core.Handle;

/**
 * The transaction that a transactional procedure's handler writes through. The interceptor opened
 * it, with the caller's {@code app.current_user_id} set, and commits it together with the record of
 * the answer when the handler succeeds; it rolls it back when the handler fails. The handler
 * neither commits nor closes it, and does not use it after it has answered.
 *
 * <p>Found through the gRPC {@code Context}: on the handler's own thread, or wherever that context
 * is current. Like any transaction, it is used by one thread at a time.
 */
public final class ClaimTransaction {
  private ClaimTransaction() {}

  /**
   * Returns the transaction as a Jdbi handle.
   *
   * @throws IllegalStateException if the current call has no such transaction
   */
  public static Handle handle() {
    return current().handle();
  }

  /**
   * Returns the transaction as a JDBC connection.
   *
   * @throws IllegalStateException if the current call has no such transaction
   */
  public static Connection connection() {
    return current().connection();
  }

  private static OpenTransaction current() {
    return CurrentCall.transaction()
        .filter(OpenTransaction.class::isInstance)
        .map(OpenTransaction.class::cast)
        .orElseThrow(ClaimTransaction::noTransaction);
  }

  private static IllegalStateException noTransaction() {
    return new IllegalStateException(
        CurrentCall.hasTransaction()
            ? "the transaction of the current call is another store's: ClaimTransaction needs a"
                + " PostgresIdempotencyStore"
            : "no transaction here: the procedure is not declared transactional, or the call's gRPC"
                + " Context is not current on this thread");
  }
}
