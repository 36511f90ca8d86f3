package io.github.grpcidempotency.torture;

import com.zaxxer.hikari.SQLExceptionOverride;
import java.sql.SQLException;

/** Makes HikariCP give up a connection that cannot write: its node is no longer the primary. */
public final class EvictReadOnly implements SQLExceptionOverride {
  @java.lang.Override
  public Override adjudicate(SQLException failure) {
    return "25006".equals(failure.getSQLState()) ? Override.MUST_EVICT : Override.CONTINUE_EVICT;
  }
}
