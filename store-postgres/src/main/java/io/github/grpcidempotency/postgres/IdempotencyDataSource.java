package io.github.grpcidempotency.postgres;

import io.github.grpcidempotency.grpc.CurrentOperation;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.logging.Logger;
import javax.sql.DataSource;

/**
 * A pool through which statements of the library travel together with those of the host: a claim
 * {@link io.github.grpcidempotency.procedure.ClaimTiming#WITH_FIRST_STATEMENT} with a handler's
 * first statement, and a record with the host's commit. Without it they need round trips of their
 * own.
 *
 * <p>A store with {@link HostTransactions} needs it around the pool that the host uses. Give this
 * data source, and not the pool, to the host's transaction manager, its repositories and its {@code
 * HostTransactions}:
 *
 * <pre>{@code
 * DataSource dataSource = new IdempotencyDataSource(pool);
 * }</pre>
 *
 * <p>A connection that has nothing to carry is the pool's own in all that it does. One that has
 * sends what it carries in front of the first statement; by itself if it must, as before a batch, a
 * savepoint or an {@code unwrap}. What is not part of a claim's transaction is never touched.
 *
 * <p>If a handler takes a connection on another thread than that of its transaction, with the
 * call's {@code Context}, the call is reported as {@code TRANSACTION_SUSPENDED}.
 *
 * <p>{@link #unwrap} reaches the pool, so that what measures or migrates it finds it. Thread-safe,
 * if the pool is.
 */
public final class IdempotencyDataSource implements DataSource, AutoCloseable {
  private final DataSource pool;

  /** Makes a data source that gives the connections of a pool. */
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
    CurrentOperation.transaction()
        .filter(HostedTransaction.class::isInstance)
        .map(HostedTransaction.class::cast)
        .ifPresent(HostedTransaction::connectionTaken);
    return new CarryingConnection(connection).proxy();
  }

  /** Reaches the pool also as a mere {@code DataSource}, as those expect who ask for its URL. */
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

  /** Closes the pool, if that can be closed. */
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
