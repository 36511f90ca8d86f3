package io.github.grpcidempotency.benchmarks.service;

import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import java.util.List;
import javax.sql.DataSource;

/**
 * Another library that makes the same create idempotent, with its own schema. Found by {@link
 * java.util.ServiceLoader}.
 */
public interface PeerLibrary {
  /** Returns the library's ways to do this. */
  List<Way> ways();

  /**
   * Creates its schema in the database, and starts the library for one server. Called at its first
   * call, so that its background work does not affect earlier measurements.
   */
  Peer start(DurableDatabase database, DataSource pool, PeerHandler handler);

  /**
   * A way to make the create idempotent.
   *
   * @param id its name on the command line
   * @param label its name in tables
   */
  record Way(String id, String label) {}
}
