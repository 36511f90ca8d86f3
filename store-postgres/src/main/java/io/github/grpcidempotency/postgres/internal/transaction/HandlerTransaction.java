package io.github.grpcidempotency.postgres.internal.transaction;

import io.github.grpcidempotency.postgres.internal.database.RecordDatabase;
import io.github.grpcidempotency.postgres.internal.driver.Driver;
import io.github.grpcidempotency.postgres.internal.sql.Parameters;
import io.github.grpcidempotency.postgres.internal.sql.StatementBatch.RowReader;
import io.github.grpcidempotency.postgres.spi.HostTransactions;
import io.github.grpcidempotency.spi.Claim.Settled;
import io.github.grpcidempotency.spi.StoreTransaction;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.store.TransactionMisuseException;
import java.sql.Connection;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/** A transaction that a handler writes through, until it is committed or rolled back. */
public abstract sealed class HandlerTransaction implements StoreTransaction
    permits OpenTransaction, HostedTransaction {
  private final Connection connection;
  private final Connection driver;
  final GuardedConnection guard;
  private volatile boolean taken;
  private volatile boolean rollbackOnly;
  private volatile boolean begunByHandler;

  HandlerTransaction(Connection connection) {
    this.connection = connection;
    this.driver = Driver.behind(connection);
    this.guard = new GuardedConnection(connection);
  }

  /** Opens a transaction, which the host may show by a name. Its first statements are not sent. */
  public static HandlerTransaction open(RecordDatabase database, String name) {
    Optional<HostTransactions> hosts = database.settings().hosts();
    return hosts.isPresent()
        ? HostedTransaction.begin(database, hosts.get(), name)
        : OpenTransaction.on(database);
  }

  /** Opens a transaction and runs its first statements. Rolls back if they fail. */
  public static HandlerTransaction openWith(
      RecordDatabase database, String name, Function<Connection, ?> firstStatements) {
    HandlerTransaction transaction = open(database, name);
    boolean begun = false;
    try {
      transaction.begin(firstStatements);
      begun = true;
      return transaction;
    } finally {
      if (!begun) {
        transaction.rollback();
      }
    }
  }

  /** Records that the first statements were sent, whether or not they succeeded. */
  abstract void begun();

  /**
   * Runs the first statements, the first of which is {@code BEGIN} unless the host has begun. The
   * driver's own {@code BEGIN} would be a separate message with a separate answer, so the driver's
   * thread would wake up twice.
   */
  public final <T> T begin(Function<Connection, T> firstStatements) {
    try {
      return firstStatements.apply(connection);
    } finally {
      begun();
    }
  }

  /** Lets the handler's first statement begin the transaction. Sends nothing. */
  final void beginLater() {
    begunByHandler = true;
    begun();
  }

  /** Returns whether the database may know of no transaction, because nothing was sent. */
  final boolean maySendNothing() {
    return begunByHandler;
  }

  /**
   * Ends the handler's use, runs the last statements and commits.
   *
   * @param first reads the result of the first statement: whether the handler has used a
   *     transaction of the host
   * @throws StoreException if the transaction could not be committed, or if the outcome is unknown
   * @throws TransactionMisuseException if the handler has ended the transaction in spite of the
   *     guard
   */
  abstract Settled finish(
      String statements, UnaryOperator<Parameters> values, RowReader<Boolean> first);

  /** Rolls back, and then runs work on a connection in autocommit mode. */
  abstract <T> T rollbackAnd(Function<Connection, T> work);

  /** Returns the connection for the handler, which cannot end the transaction with it. */
  public final Connection guardedConnection() {
    taken = true;
    return guard.proxy();
  }

  /** Returns the connection for the store's own statements. */
  public final Connection unguarded() {
    return connection;
  }

  /** Ends the connection, so that nothing remains of the transaction. */
  final void abort() {
    Driver.abort(driver);
  }

  @Override
  public final void setRollbackOnly() {
    rollbackOnly = true;
  }

  final boolean isRollbackOnly() {
    return rollbackOnly;
  }

  @Override
  public boolean isTaken() {
    return taken;
  }
}
