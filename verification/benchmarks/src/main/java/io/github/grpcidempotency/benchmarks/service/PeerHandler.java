package io.github.grpcidempotency.benchmarks.service;

import io.github.grpcidempotency.benchmarks.v1.CreateProjectRequest;
import io.github.grpcidempotency.benchmarks.v1.Project;
import java.sql.Connection;
import java.sql.SQLException;

/** The handler that another library runs; the same as this library's. Thread-safe. */
public interface PeerHandler {
  /** Creates in a transaction of its own. */
  Project alone(CreateProjectRequest request) throws SQLException;

  /** Creates in an existing transaction. */
  Project on(Connection connection, CreateProjectRequest request) throws SQLException;
}
