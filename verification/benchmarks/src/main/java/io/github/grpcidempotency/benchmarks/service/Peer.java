package io.github.grpcidempotency.benchmarks.service;

import io.github.grpcidempotency.benchmarks.v1.CreateProjectRequest;
import io.github.grpcidempotency.benchmarks.v1.Project;
import java.sql.SQLException;

/** Another library in a server. Thread-safe. */
public interface Peer extends AutoCloseable {
  /** Runs the handler once per key, and returns the answer of its first run. */
  Project create(PeerLibrary.Way way, String key, CreateProjectRequest request) throws SQLException;

  @Override
  void close();
}
