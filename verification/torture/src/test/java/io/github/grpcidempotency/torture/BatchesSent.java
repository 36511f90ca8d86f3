package io.github.grpcidempotency.torture;

import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import io.github.grpcidempotency.spi.BatchCounts;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.JdbiException;

/** Writes into the database how many batches a server has sent. A kill loses the latest ones. */
final class BatchesSent {
  private static final int MILLIS_BETWEEN_LOOKS = 200;

  private final PostgresIdempotencyStore store;
  private final Jdbi past;
  private BatchCounts written = BatchCounts.NONE;

  /**
   * Counts the batches of a store.
   *
   * @param past bypasses all faults
   */
  BatchesSent(PostgresIdempotencyStore store, DataSource past) {
    this.store = store;
    this.past = Jdbi.create(past);
  }

  /** Counts from now on, until the process ends. */
  void start() {
    var unused =
        Executors.newSingleThreadScheduledExecutor()
            .scheduleWithFixedDelay(
                this::write, MILLIS_BETWEEN_LOOKS, MILLIS_BETWEEN_LOOKS, TimeUnit.MILLISECONDS);
  }

  private void write() {
    BatchCounts sent = store.batches();
    if (sent.equals(written)) {
      return;
    }
    try {
      past.useHandle(
          handle ->
              handle.execute(
                  "INSERT INTO torture.batches (batches, calls) VALUES (?, ?)",
                  sent.batches() - written.batches(),
                  sent.calls() - written.calls()));
      written = sent;
    } catch (JdbiException databaseIsOut) {
      // the next write has them too
    }
  }
}
