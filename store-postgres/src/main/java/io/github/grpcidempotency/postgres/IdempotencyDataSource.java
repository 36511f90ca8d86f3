package io.github.grpcidempotency.postgres;

import io.github.grpcidempotency.postgres.internal.carry.StatementCarrier;
import io.github.grpcidempotency.postgres.internal.transaction.HostedTransaction;
import io.github.grpcidempotency.store.handler.CurrentHandler;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.logging.Logger;
import javax.sql.DataSource;

/**
 * A connection pool that can send statements of the library together with the host's statements: a
 * claim {@link io.github.grpcidempotency.procedure.ClaimTiming#WITH_FIRST_STATEMENT} with a
 * handler's first statement, and a record with the host's commit. Without this data source, claim
 * and record need round trips of their own.
 *
 * <p>A store with {@link HostTransactions} needs it around the pool that the host uses. Give this
 * data source, and not the pool, to the host's transaction manager, its repositories and its {@code
 * HostTransactions}:
 *
 * <pre>{@code
 * DataSource dataSource = new IdempotencyDataSource(pool);
 * }</pre>
 *
 * <p>A connection without statements to carry behaves exactly like the pool's connection.
 * Otherwise, the connection sends the carried statements in front of the first statement, or by
 * themselves before a batch, a savepoint or an {@code unwrap}. Transactions without a claim are
 * never changed.
 *
 * <p>If a handler takes a connection on another thread than its transaction's, with the call's
 * {@code Context}, the call is reported as {@code TRANSACTION_SUSPENDED}.
 *
 * <p>{@link #unwrap} returns the pool, so metrics and migration tools find the pool. Thread-safe if
 * the pool is thread-safe.
 */
public final class IdempotencyDataSource implements DataSource, AutoCloseable {
  private final DataSource pool;

  /** Creates a data source that returns the pool's connections. */
  public IdempotencyDataSource(DataSource pool) {
    this.pool = pool;
  }

  @Override
  public Connection getConnection() throws SQLException {
    return carrying(pool.getConnection());
  }

  @Override
  public Connection getConnection(String username, String password) throws SQLException {
    return carrying(pool.getConnection(username, password));
  }

  private static Connection carrying(Connection connection) {
    CurrentHandler.transaction()
        .filter(HostedTransaction.class::isInstance)
        .map(HostedTransaction.class::cast)
        .ifPresent(HostedTransaction::connectionTaken);
    return StatementCarrier.on(connection).proxy();
  }

  /**
   * Returns the pool also if {@code DataSource} is requested, because some libraries read the
   * pool's URL in this way.
   */
  @Override
  public <T> T unwrap(Class<T> type) throws SQLException {
    if (type == IdempotencyDataSource.class) {
      return type.cast(this);
    }
    return type.isInstance(pool) ? type.cast(pool) : pool.unwrap(type);
  }

  @Override
  public boolean isWrapperFor(Class<?> type) throws SQLException {
    return type == IdempotencyDataSource.class || type.isInstance(pool) || pool.isWrapperFor(type);
  }

  @Override
  public PrintWriter getLogWriter() throws SQLException {
    return pool.getLogWriter();
  }

  @Override
  public void setLogWriter(PrintWriter out) throws SQLException {
    pool.setLogWriter(out);
  }

  @Override
  public int getLoginTimeout() throws SQLException {
    return pool.getLoginTimeout();
  }

  @Override
  public void setLoginTimeout(int seconds) throws SQLException {
    pool.setLoginTimeout(seconds);
  }

  @Override
  public Logger getParentLogger() throws SQLFeatureNotSupportedException {
    return pool.getParentLogger();
  }

  /** Closes the pool, if it is {@code AutoCloseable}. */
  @Override
  public void close() throws SQLException {
    if (pool instanceof AutoCloseable closeable) {
      try {
        closeable.close();
      } catch (SQLException | RuntimeException failure) {
        throw failure;
      } catch (Exception failure) {
        throw new SQLException("the pool could not be closed", failure);
      }
    }
  }

  @Override
  public String toString() {
    return "IdempotencyDataSource[" + pool + "]";
  }
}
