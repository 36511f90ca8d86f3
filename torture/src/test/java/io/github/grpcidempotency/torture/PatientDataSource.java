package io.github.grpcidempotency.torture;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.postgresql.ds.PGSimpleDataSource;

/** Goes on trying to connect during a failover, for as long as the pool waits for a connection. */
public final class PatientDataSource extends PGSimpleDataSource {
  private static final long serialVersionUID = 1L;
  private static final long PAUSE = TimeUnit.MILLISECONDS.toNanos(100);

  @Override
  public Connection getConnection(String user, String password) throws SQLException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(getLoginTimeout());
    while (true) {
      try {
        return super.getConnection(user, password);
      } catch (SQLException failure) {
        boolean late = System.nanoTime() - end > 0 || Thread.currentThread().isInterrupted();
        if (late || !isPassing(failure)) {
          throw failure;
        }
        LockSupport.parkNanos(PAUSE);
      }
    }
  }

  /** Whether no node was there, or one that is starting or stopping. */
  private static boolean isPassing(SQLException failure) {
    String state = failure.getSQLState();
    return state != null && (state.startsWith("08") || state.startsWith("57P"));
  }
}
