package io.github.grpcidempotency.benchmarks.service;

import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import java.util.List;
import javax.sql.DataSource;

/**
 * Another library that makes the same create idempotent, with its own schema as it ships it. Found
 * by {@link java.util.ServiceLoader}.
 */
public interface PeerLibrary {
  /** Returns the ways in which it does that. */
  List<Way> ways();

  /**
   * Adds what it needs to the database, and starts it for one server. Called with the first call
   * that it is to run, so that what it does in the background burdens no run without it.
   */
  Peer start(DurableDatabase database, DataSource pool, PeerHandler handler);

  /**
   * One way.
   *
   * @param id how the command line names it
   * @param label how tables name it
   */
  record Way(String id, String label) {}
}
