package io.github.grpcidempotency.example.service.outbox;

import io.github.grpcidempotency.example.service.background.Repeating;
import java.time.Duration;
import org.jdbi.v3.core.Jdbi;

/**
 * Drains the outbox of all users, batch by batch. Any number of workers may run, in one server or
 * several. It connects as a separate role, which sees every user's outbox rows but none of their
 * resources.
 */
public final class OutboxWorker {
  private static final Duration POLL = Duration.ofMillis(50);

  private OutboxWorker() {}

  /** Starts a worker on a connection pool of the worker's role. */
  public static Repeating start(Jdbi jdbi, RetryPolicy retryPolicy) {
    return Repeating.start("outbox-worker", POLL, () -> drain(jdbi, retryPolicy));
  }

  private static void drain(Jdbi jdbi, RetryPolicy retryPolicy) {
    boolean more = true;
    while (more) {
      more = jdbi.inTransaction(handle -> new OutboxBatch(handle, retryPolicy).drain());
    }
  }
}
