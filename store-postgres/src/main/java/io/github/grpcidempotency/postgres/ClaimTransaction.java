package io.github.grpcidempotency.postgres;

import io.github.grpcidempotency.grpc.spi.CurrentHandler;
import io.github.grpcidempotency.postgres.internal.transaction.HandlerTransaction;
import io.github.grpcidempotency.postgres.spi.HostTransactions;
import java.sql.Connection;

/**
 * The transaction in which the handler of a transactional procedure writes. The interceptor begins
 * it, with the caller's {@code app.current_user_id} set. It commits the transaction together with
 * the record of the answer if the handler succeeds, and rolls it back if the handler fails. The
 * handler must neither commit nor close it, nor use it after it has answered. With {@link
 * HostTransactions} it is a transaction of the host, and the host's own means, such as {@code
 * JdbcTemplate}, use it too.
 *
 * <p>The transaction is looked up in the gRPC {@code Context}, so it is available on the handler's
 * thread and wherever that context is current. Like any transaction, use it from one thread at a
 * time.
 */
public final class ClaimTransaction {
  private ClaimTransaction() {}

  /**
   * Returns the transaction as a JDBC connection.
   *
   * @throws IllegalStateException if the current call has no such transaction
   */
  public static Connection connection() {
    return current().guardedConnection();
  }

  private static HandlerTransaction current() {
    if (CurrentHandler.requireTransaction() instanceof HandlerTransaction ours) {
      return ours;
    }
    throw new IllegalStateException(
        "the transaction of the current call belongs to another store: ClaimTransaction works"
            + " with a PostgresIdempotencyStore only");
  }
}
