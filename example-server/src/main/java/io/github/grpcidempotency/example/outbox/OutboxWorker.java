package io.github.grpcidempotency.example.outbox;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jdbi.v3.core.Jdbi;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Drains the outbox of all users, batch by batch, until it is closed. Any number of workers may
 * run, in one server or several. It connects as a role of its own, which sees every user's outbox
 * rows and none of their resources.
 */
public final class OutboxWorker implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(OutboxWorker.class);
  private static final Duration POLL = Duration.ofMillis(50);
  private static final Duration PAUSE_AFTER_FAILURE = Duration.ofSeconds(1);
  private static final Duration STOP_WITHIN = Duration.ofSeconds(5);

  private final Jdbi jdbi;
  private final RetryPolicy retryPolicy;
  private final CountDownLatch closed = new CountDownLatch(1);
  private final Thread thread = new Thread(this::drainUntilClosed, "outbox-worker");

  private OutboxWorker(Jdbi jdbi, RetryPolicy retryPolicy) {
    this.jdbi = jdbi;
    this.retryPolicy = retryPolicy;
  }

  /** Starts a worker on a connection pool of the worker's role. */
  public static OutboxWorker start(Jdbi jdbi, RetryPolicy retryPolicy) {
    OutboxWorker worker = new OutboxWorker(jdbi, retryPolicy);
    worker.thread.setDaemon(true);
    worker.thread.start();
    return worker;
  }

  private void drainUntilClosed() {
    try {
      Duration pause = POLL;
      while (!closed.await(pause.toMillis(), TimeUnit.MILLISECONDS)) {
        pause = drain() ? POLL : PAUSE_AFTER_FAILURE;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Returns whether the database let it. */
  private boolean drain() {
    try {
      boolean more = true;
      while (more && closed.getCount() > 0) {
        more = jdbi.inTransaction(handle -> new OutboxBatch(handle, retryPolicy).drain());
      }
      return true;
    } catch (RuntimeException e) {
      log.warn("The outbox could not be drained and will be tried again: {}", e.getMessage());
      return false;
    }
  }

  /** Stops the worker once its current batch is done. */
  @Override
  public void close() {
    closed.countDown();
    try {
      thread.join(STOP_WITHIN.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
