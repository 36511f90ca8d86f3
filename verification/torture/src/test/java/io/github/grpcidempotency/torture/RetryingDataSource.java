package io.github.grpcidempotency.torture;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * A data source of the PostgreSQL driver that retries a failed connection attempt until its {@link
 * #setLoginTimeout login timeout} has passed. Use it in a connection pool, so that the pool has
 * connections as soon as a failover has ended. HikariCP sets the login timeout to its {@code
 * connectionTimeout}. Without a login timeout, there is one attempt.
 *
 * <p>Only failures that a failover causes are retried: no server accepts connections (SQLSTATE
 * 08xxx), or the server is starting or stopping (57Pxx). If the calling thread is interrupted,
 * there is no further attempt. Thread-safe once its properties are set.
 */
public final class RetryingDataSource extends PGSimpleDataSource {
  private static final long serialVersionUID = 1L;
  private static final long PAUSE = TimeUnit.MILLISECONDS.toNanos(100);

  /** Creates a data source without a URL and other properties. */
  public RetryingDataSource() {}

  @Override
  public Connection getConnection(String user, String password) throws SQLException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(getLoginTimeout());
    while (true) {
      try {
        return super.getConnection(user, password);
      } catch (SQLException failure) {
        boolean late = System.nanoTime() - end > 0 || Thread.currentThread().isInterrupted();
        if (late || !isTransient(failure)) {
          throw failure;
        }
        LockSupport.parkNanos(PAUSE);
      }
    }
  }

  private static boolean isTransient(SQLException failure) {
    String state = failure.getSQLState();
    return state != null && (state.startsWith("08") || state.startsWith("57P"));
  }
}
