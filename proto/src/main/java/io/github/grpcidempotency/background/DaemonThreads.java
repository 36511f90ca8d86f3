package io.github.grpcidempotency.background;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * Threads that do not keep a JVM alive. Everything that a task throws on them is logged. All
 * threads of the library are created here. Not for use by services.
 */
public final class DaemonThreads {
  private static final RateLimitedLog log =
      RateLimitedLog.of(LoggerFactory.getLogger(DaemonThreads.class));

  private static final long IDLE_SECONDS = 5;
  private static final ExecutorService POOL = Executors.newCachedThreadPool(named("idempotency"));

  private DaemonThreads() {}

  /** Returns a factory of threads that share a name. */
  public static ThreadFactory named(String name) {
    return task -> {
      Thread thread = new Thread(task, name);
      thread.setDaemon(true);
      thread.setUncaughtExceptionHandler((ended, thrown) -> report(name, thrown));
      return thread;
    };
  }

  /**
   * Returns the pool of this process. It has as many threads as there are tasks, so a task may
   * block. Nobody shuts it down.
   */
  public static ExecutorService pool() {
    return POOL;
  }

  /**
   * Returns a timer with one thread. A cancelled task is removed at once. A task that is submitted
   * after the shutdown is silently dropped.
   */
  public static ScheduledExecutorService newTimer(String name) {
    return timer(name);
  }

  /** Like {@link #newTimer}, but the thread ends while there are no tasks. */
  public static ScheduledExecutorService newIdleTimer(String name) {
    ScheduledThreadPoolExecutor timer = timer(name);
    timer.setKeepAliveTime(IDLE_SECONDS, TimeUnit.SECONDS);
    timer.allowCoreThreadTimeOut(true);
    return timer;
  }

  private static ScheduledThreadPoolExecutor timer(String name) {
    ScheduledThreadPoolExecutor timer =
        new ScheduledThreadPoolExecutor(1, named(name), new ThreadPoolExecutor.DiscardPolicy()) {
          @Override
          protected void afterExecute(Runnable task, @Nullable Throwable thrown) {
            if (task instanceof Future<?> future && future.isDone() && !future.isCancelled()) {
              reportFailure(name, future);
            }
          }
        };
    timer.setRemoveOnCancelPolicy(true);
    return timer;
  }

  private static void reportFailure(String name, Future<?> done) {
    try {
      done.get();
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException failure) {
      report(name, failure);
    }
  }

  private static void report(String name, Throwable thrown) {
    log.error(name, thrown, "a task of the thread " + name + " failed");
  }
}
