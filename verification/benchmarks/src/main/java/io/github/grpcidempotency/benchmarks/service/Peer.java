package io.github.grpcidempotency.benchmarks.service;

import io.github.grpcidempotency.benchmarks.v1.CreateProjectRequest;
import io.github.grpcidempotency.benchmarks.v1.Project;
import java.sql.SQLException;

/** A library at work in a server. Thread-safe. */
public interface Peer extends AutoCloseable {
  /** Runs the handler once per key, and returns what its first run has answered. */
  Project create(PeerLibrary.Way way, String key, CreateProjectRequest request) throws SQLException;

  @Override
  void close();
}
