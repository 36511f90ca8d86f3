package io.github.grpcidempotency.background;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.function.BooleanSupplier;

/** Repeats a task at an interval while there is something to do. Not for use by services. */
public final class RepeatedWhile {
  private final ScheduledExecutorService timer;
  private final Duration interval;
  private final RepeatedTask task;
  private final BooleanSupplier needed;

  @GuardedBy("this")
  private Optional<ScheduledFuture<?>> repetition = Optional.empty();

  /**
   * Creates the repetition, which does not start by itself.
   *
   * @param needed returns whether there is still something to do
   */
  public RepeatedWhile(
      ScheduledExecutorService timer,
      Duration interval,
      RepeatedTask task,
      BooleanSupplier needed) {
    this.timer = timer;
    this.interval = interval;
    this.task = task.then(this::stopUnlessNeeded);
    this.needed = needed;
  }

  /**
   * Starts to repeat the task, if it is not repeated already. There must be something to do.
   *
   * @throws OutOfMemoryError if there is no thread for the task
   */
  public synchronized void start() {
    if (repetition.isEmpty()) {
      repetition = Optional.of(task.start(timer, interval, interval));
    }
  }

  private synchronized void stopUnlessNeeded() {
    if (!needed.getAsBoolean()) {
      repetition.ifPresent(started -> started.cancel(/* mayInterruptIfRunning= */ false));
      repetition = Optional.empty();
    }
  }
}
