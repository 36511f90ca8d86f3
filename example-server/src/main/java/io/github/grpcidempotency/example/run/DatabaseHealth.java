package io.github.grpcidempotency.example.run;

import io.github.grpcidempotency.example.service.background.Repeating;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.protobuf.services.HealthStatusManager;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;

/**
 * Checks every second whether the database answers, and reports the result in {@code
 * grpc.health.v1}. Without the database, the server can do nothing, and a load balancer should use
 * another server.
 */
final class DatabaseHealth {
  private static final Duration EVERY = Duration.ofSeconds(1);
  private static final int ANSWER_WITHIN_SECONDS = 1;

  private DatabaseHealth() {}

  /**
   * Starts checking.
   *
   * @param pool a separate pool, because it is no outage if calls use all connections of their pool
   */
  static Repeating start(DataSource pool, HealthStatusManager health) {
    return Repeating.start(
        "database-health",
        EVERY,
        () ->
            health.setStatus(
                HealthStatusManager.SERVICE_NAME_ALL_SERVICES,
                answers(pool) ? ServingStatus.SERVING : ServingStatus.NOT_SERVING));
  }

  private static boolean answers(DataSource pool) {
    try (Connection connection = pool.getConnection()) {
      return connection.isValid(ANSWER_WITHIN_SECONDS);
    } catch (SQLException | RuntimeException away) {
      return false;
    }
  }
}
