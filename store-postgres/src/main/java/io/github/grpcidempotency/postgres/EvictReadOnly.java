package io.github.grpcidempotency.postgres;

import com.zaxxer.hikari.SQLExceptionOverride;
import java.sql.SQLException;

/**
 * Makes HikariCP close a connection whose database is read-only, as a primary is after it was
 * demoted. Without it, the pool lends such a connection again, and every write on it fails.
 *
 * <p>HikariCP creates an instance for each connection: {@code
 * config.setExceptionOverrideClassName(EvictReadOnly.class.getName())}.
 */
public final class EvictReadOnly implements SQLExceptionOverride {
  private static final String READ_ONLY = "25006";

  @java.lang.Override
  public Override adjudicate(SQLException failure) {
    return READ_ONLY.equals(failure.getSQLState()) ? Override.MUST_EVICT : Override.CONTINUE_EVICT;
  }
}
