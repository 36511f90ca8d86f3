package io.github.grpcidempotency.benchmarks.peers;

import com.google.common.base.Throwables;
import com.google.common.io.BaseEncoding;
import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import io.github.grpcidempotency.benchmarks.service.Peer;
import io.github.grpcidempotency.benchmarks.service.PeerHandler;
import io.github.grpcidempotency.benchmarks.service.PeerLibrary;
import io.github.grpcidempotency.benchmarks.v1.CreateProjectRequest;
import io.github.grpcidempotency.benchmarks.v1.Project;
import io.github.grpcidempotency.key.Fingerprinter;
import io.github.josipmusa.idempotency.core.ExecutionResult;
import io.github.josipmusa.idempotency.core.IdempotencyConfig;
import io.github.josipmusa.idempotency.core.IdempotencyContext;
import io.github.josipmusa.idempotency.core.IdempotencyEngine;
import io.github.josipmusa.idempotency.core.StoredResponse;
import io.github.josipmusa.idempotency.jdbc.JdbcIdempotencyStore;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import javax.sql.DataSource;

/** Used as its servlet filter uses it: execute, then complete. It compares requests. */
public final class Idempotency4j implements PeerLibrary {
  @Override
  public List<Way> ways() {
    return List.of(new Way("idempotency4j", "idempotency4j"));
  }

  @Override
  public Peer start(DurableDatabase database, DataSource pool, PeerHandler handler) {
    Scripts.run(
        database, "idempotency_records", List.of("idempotency-schema-postgresql.sql"));
    return new Running(pool, handler);
  }

  private static final class Running implements Peer {
    private final IdempotencyConfig config = IdempotencyConfig.defaults();
    private final Fingerprinter fingerprinter = Fingerprinter.wholeRequest();
    // As many threads as its own auto-configuration gives it.
    private final ScheduledExecutorService heartbeats =
        Executors.newScheduledThreadPool(
            Math.max(2, Runtime.getRuntime().availableProcessors() / 2));
    private final JdbcIdempotencyStore store;
    private final IdempotencyEngine engine;
    private final PeerHandler handler;

    Running(DataSource pool, PeerHandler handler) {
      this.store = new JdbcIdempotencyStore(pool, false);
      this.engine = new IdempotencyEngine(store, heartbeats);
      this.handler = handler;
    }

    @Override
    public Project create(Way way, String key, CreateProjectRequest request) throws SQLException {
      IdempotencyContext context =
          new IdempotencyContext(
              key,
              config.defaultTtl(),
              config.defaultLockTimeout(),
              BaseEncoding.base16().encode(fingerprinter.fingerprint(request).hash().toByteArray()));
      List<Project> created = new ArrayList<>(1);
      ExecutionResult result;
      try {
        result =
            engine.execute(context, () -> created.add(handler.alone(request)));
      } catch (Exception failure) {
        Throwables.throwIfInstanceOf(failure, SQLException.class);
        Throwables.throwIfUnchecked(failure);
        throw new IllegalStateException(failure);
      }
      if (result instanceof ExecutionResult.Duplicate duplicate) {
        return Answers.parse(duplicate.response().body());
      }
      Project project = created.get(0);
      store.complete(
          key,
          new StoredResponse(0, Map.of(), project.toByteArray(), Instant.now()),
          context.ttl());
      return project;
    }

    @Override
    public void close() {
      heartbeats.shutdownNow();
    }
  }
}
