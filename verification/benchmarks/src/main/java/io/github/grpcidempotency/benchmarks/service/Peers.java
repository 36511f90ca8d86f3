package io.github.grpcidempotency.benchmarks.service;

import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import io.github.grpcidempotency.benchmarks.v1.CreateProjectRequest;
import io.github.grpcidempotency.benchmarks.v1.Project;
import java.sql.SQLException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.sql.DataSource;

/** The other libraries of one server, each started with its first call. Thread-safe. */
final class Peers implements AutoCloseable {
  private final DurableDatabase database;
  private final DataSource pool;
  private final PeerHandler handler;
  private final Map<PeerLibrary, Peer> started = new ConcurrentHashMap<>();

  Peers(DurableDatabase database, DataSource pool, PeerHandler handler) {
    this.database = database;
    this.pool = pool;
    this.handler = handler;
  }

  Project create(PeerVariant variant, CreateProjectRequest request) throws SQLException {
    return started
        .computeIfAbsent(variant.library(), library -> library.start(database, pool, handler))
        .create(variant.way(), RequestKey.current(), request);
  }

  @Override
  public void close() {
    started.values().forEach(Peer::close);
  }
}
