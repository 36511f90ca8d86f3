package io.github.grpcidempotency.internal.engine;

import io.github.grpcidempotency.background.RateLimitedLog;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.LoggerFactory;

/**
 * Wraps a service's executor, which may be full, shut down, or out of threads. If the executor
 * rejects a task, the task runs on the caller's thread; otherwise a waiting call would never be
 * answered.
 */
final class CallerRunsExecutor implements Executor {
  private final RateLimitedLog log =
      RateLimitedLog.of(LoggerFactory.getLogger(CallerRunsExecutor.class));
  private final Executor executor;

  public CallerRunsExecutor(Executor executor) {
    this.executor = executor;
  }

  @Override
  public void execute(Runnable task) {
    AtomicBoolean begun = new AtomicBoolean();
    Runnable once =
        () -> {
          if (!begun.getAndSet(true)) {
            task.run();
          }
        };
    try {
      executor.execute(once);
    } catch (Throwable thrown) {
      if (begun.get()) {
        throw thrown;
      }
      log.warn(
          thrown.getClass().getName(),
          thrown,
          "the executor rejected a call that had waited; the call continues on the current thread");
      once.run();
    }
  }
}
