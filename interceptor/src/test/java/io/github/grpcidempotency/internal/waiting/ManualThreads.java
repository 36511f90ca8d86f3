package io.github.grpcidempotency.internal.waiting;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.Callable;
import java.util.concurrent.Delayed;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/**
 * Executors without threads: tasks run at once on the caller's thread, delayed ones when the test
 * says so.
 */
final class ManualThreads extends AbstractExecutorService implements ScheduledExecutorService {
  private final List<Later> later = new ArrayList<>();

  private static final class Later implements ScheduledFuture<Boolean> {
    private final Runnable task;
    private volatile boolean cancelled;

    Later(Runnable task) {
      this.task = task;
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
      cancelled = true;
      return true;
    }

    @Override
    public boolean isCancelled() {
      return cancelled;
    }

    @Override
    public boolean isDone() {
      return cancelled;
    }

    @Override
    public Boolean get() {
      throw new UnsupportedOperationException();
    }

    @Override
    public Boolean get(long timeout, TimeUnit unit) {
      throw new UnsupportedOperationException();
    }

    @Override
    public long getDelay(TimeUnit unit) {
      return 0;
    }

    @Override
    public int compareTo(Delayed other) {
      return 0;
    }
  }

  /** Runs, on this thread, all delayed tasks that are not cancelled. */
  void elapse() {
    for (Later due : due()) {
      if (!due.cancelled) {
        due.task.run();
      }
    }
  }

  private synchronized List<Later> due() {
    return new ArrayList<>(later);
  }

  @Override
  public void execute(Runnable task) {
    task.run();
  }

  @Override
  public synchronized ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
    Later scheduled = new Later(task);
    later.add(scheduled);
    return scheduled;
  }

  @Override
  public ScheduledFuture<?> scheduleWithFixedDelay(
      Runnable task, long initialDelay, long delay, TimeUnit unit) {
    return schedule(task, delay, unit);
  }

  @Override
  public <V> ScheduledFuture<V> schedule(Callable<V> task, long delay, TimeUnit unit) {
    throw new UnsupportedOperationException();
  }

  @Override
  public ScheduledFuture<?> scheduleAtFixedRate(
      Runnable task, long initialDelay, long period, TimeUnit unit) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void shutdown() {}

  @Override
  public List<Runnable> shutdownNow() {
    return List.of();
  }

  @Override
  public boolean isShutdown() {
    return false;
  }

  @Override
  public boolean isTerminated() {
    return false;
  }

  @Override
  public boolean awaitTermination(long timeout, TimeUnit unit) {
    return true;
  }
}
