package io.github.grpcidempotency.benchmarks.scenario;

import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import io.github.grpcidempotency.benchmarks.database.KeyTable;
import io.github.grpcidempotency.benchmarks.database.ServerCpu;
import io.github.grpcidempotency.benchmarks.database.Usage;
import io.github.grpcidempotency.benchmarks.load.ClosedLoop;
import io.github.grpcidempotency.benchmarks.load.Load;
import io.github.grpcidempotency.benchmarks.load.Operation;
import io.github.grpcidempotency.benchmarks.load.StoreCalls;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jdbi.v3.core.Jdbi;

/** A table with its own store, pool and callers. */
final class TableUnderLoad implements AutoCloseable {
  private final String label;
  private final DurableDatabase database;
  private final HikariDataSource pool;
  private final StoreCalls calls;
  private final ServerCpu cpu;
  private final int callers;

  /** What callers saw of it, and what a call took of the database. */
  record Measured(Load load, double walBytes, double blocksRead, double cpuMicros) {}

  /** Takes a setting of the connections, such as {@code jit=off}, or an empty string. */
  TableUnderLoad(
      String label, KeyTable table, String setting, DurableDatabase database, int callers) {
    this.label = label;
    this.database = database;
    this.pool = database.newPoolWith(callers, setting);
    this.callers = callers;
    this.calls =
        new StoreCalls(
            PostgresIdempotencyStore.builder(pool).schema(table.schema()).build(), callers);
    this.cpu = new ServerCpu(database.superuser());
  }

  /** Returns how tables of results call it. */
  String label() {
    return label;
  }

  StoreCalls calls() {
    return calls;
  }

  /** Returns the memory of one of its connections. */
  double connectionBytes() {
    return Jdbi.create(pool)
        .withHandle(
            handle ->
                handle
                    .createQuery("SELECT sum(total_bytes) FROM pg_backend_memory_contexts")
                    .mapTo(Double.class)
                    .one());
  }

  /** Begins with a checkpoint, so that it pays for the full-page images of the pages it touches. */
  Measured measure(Operation operation, Duration time) {
    database.execute("CHECKPOINT");
    List<Load> seen = new ArrayList<>();
    Duration cpuBefore = cpu.used();
    Usage used =
        Usage.of(
            pool,
            callers,
            database.superuser(),
            () -> seen.add(ClosedLoop.run(operation, callers, time)));
    double cpuMicros = cpu.used().minus(cpuBefore).toNanos() / 1e3;
    Load load = seen.get(0);
    double operations = load.operations();
    return new Measured(
        load, used.walBytes() / operations, used.blocksRead() / operations, cpuMicros / operations);
  }

  @Override
  public void close() {
    calls.close();
    pool.close();
  }
}
