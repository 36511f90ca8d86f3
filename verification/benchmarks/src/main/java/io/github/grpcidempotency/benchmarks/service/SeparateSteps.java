package io.github.grpcidempotency.benchmarks.service;

import com.github.f4b6a3.uuid.UuidCreator;
import com.google.common.hash.Hashing;
import io.github.grpcidempotency.benchmarks.v1.CreateProjectRequest;
import io.github.grpcidempotency.benchmarks.v1.Project;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Optional;
import java.util.UUID;
import javax.sql.DataSource;

/**
 * Idempotency as in a simple implementation by hand: three transactions around the handler's own.
 */
final class SeparateSteps {
  private static final String LOOK_UP =
      """
      SELECT request_hash, response_bytes
        FROM idempotency.idempotency_keys
       WHERE idempotency_key = ? AND user_uuid = ? AND expires > now()
      """;
  private static final String RESERVE =
      """
      INSERT INTO idempotency.idempotency_keys
        (id, idempotency_key, user_uuid, procedure, request_hash, hash_version, lease_expires, expires)
      VALUES (?, ?, ?, ?, ?, 1, now() + interval '30 seconds', now() + interval '1 day')
      """;
  private static final String COMPLETE =
      """
      UPDATE idempotency.idempotency_keys
         SET response_bytes = ?, project_id = ?, completed = now()
       WHERE id = ?
      """;

  private final DataSource pool;
  private final UUID user;

  private interface Work<T> {
    T in(Connection connection) throws SQLException;
  }

  SeparateSteps(DataSource pool, UUID user) {
    this.pool = pool;
    this.user = user;
  }

  Optional<byte[]> lookUp(String key) throws SQLException {
    return inTransaction(
        connection -> {
          try (PreparedStatement select = connection.prepareStatement(LOOK_UP)) {
            select.setString(1, key);
            select.setObject(2, user);
            try (ResultSet found = select.executeQuery()) {
              return found.next() ? Optional.of(found.getBytes(2)) : Optional.<byte[]>empty();
            }
          }
        });
  }

  UUID reserve(String key, CreateProjectRequest request) throws SQLException {
    UUID id = UuidCreator.getTimeOrderedEpoch();
    byte[] hash = Hashing.sha256().hashBytes(request.toByteArray()).asBytes();
    String method = Variant.SEPARATE.method().getFullMethodName();
    return inTransaction(
        connection -> {
          Effect.execute(connection, RESERVE, id, key, user, method, hash);
          return id;
        });
  }

  UUID complete(UUID id, Project project) throws SQLException {
    UUID created = UUID.fromString(project.getId());
    return inTransaction(
        connection -> {
          Effect.execute(connection, COMPLETE, project.toByteArray(), created, id);
          return id;
        });
  }

  private <T> T inTransaction(Work<T> work) throws SQLException {
    try (Connection connection = pool.getConnection()) {
      connection.setAutoCommit(false);
      Effect.execute(connection, Effect.SET_USER, user.toString());
      T result = work.in(connection);
      connection.commit();
      return result;
    }
  }
}
