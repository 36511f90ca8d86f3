package io.github.grpcidempotency.internal.runtime;

import io.github.grpcidempotency.store.support.DaemonThreads;
import io.github.grpcidempotency.store.support.RateLimitedLog;
import io.github.grpcidempotency.store.support.RepeatedTask;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.LoggerFactory;

/**
 * The calls of this process whose handlers are running. A call that is cancelled, or past its
 * deadline, is given up if its handler has not answered within one lease. A call without a deadline
 * is given up when it has run for longer than a limit.
 *
 * <p>All calls are checked three times per lease, so a call needs no timer. Calls are given up on
 * other threads than the one that checks, because giving up may block on the store.
 *
 * <p>Thread-safe. One daemon thread, and up to four more while calls are given up.
 */
public final class RunningCalls implements AutoCloseable {
  private static final int ENDING_THREADS = 4;

  /** A call whose handler has not answered. */
  public interface Call {
    String method();

    boolean hasDeadline();

    /** Returns whether the client no longer waits: the call is cancelled or past its deadline. */
    boolean isOver();

    String subject();

    /** Returns, as a sentence, the consequence for the effect of a handler that is given up. */
    String consequence();

    /**
     * Ends the call, unless its handler has answered. A later answer is dropped. May block.
     *
     * @param report runs first, if the call is ended
     */
    void giveUp(Runnable report);
  }

  private static final class State {
    private final long begun = System.nanoTime();
    private long overSince;
    private boolean over;
    private boolean givenUp;
  }

  private final RateLimitedLog log;
  private final Duration lease;
  private final Duration limit;
  private final Map<Call, State> running = new ConcurrentHashMap<>();
  private final ScheduledExecutorService timer = DaemonThreads.newTimer("idempotency-running");
  private final ExecutorService endings;

  RunningCalls(Duration lease, Duration limit) {
    this.lease = lease;
    this.limit = limit;
    this.log = RateLimitedLog.of(LoggerFactory.getLogger(RunningCalls.class));
    ThreadPoolExecutor threads =
        new ThreadPoolExecutor(
            ENDING_THREADS,
            ENDING_THREADS,
            1,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            DaemonThreads.named("idempotency-unanswered"));
    threads.allowCoreThreadTimeOut(true);
    this.endings = threads;
    Duration thirdOfLease = lease.dividedBy(3);
    RepeatedTask.of("check running calls", log, this::check)
        .every(timer, thirdOfLease, thirdOfLease);
  }

  public void begin(Call call) {
    running.put(call, new State());
  }

  public void end(Call call) {
    running.remove(call);
  }

  /**
   * Returns how long the oldest call has been running; zero if no call is running. Does not block.
   */
  Duration oldest() {
    long now = System.nanoTime();
    long oldest = 0;
    for (State state : running.values()) {
      oldest = Math.max(oldest, now - state.begun);
    }
    return Duration.ofNanos(oldest);
  }

  @Override
  public void close() {
    timer.shutdownNow();
    endings.shutdown();
  }

  private void check() {
    long now = System.nanoTime();
    running.forEach(
        (call, state) -> {
          if (!state.givenUp && isDue(call, state, now)) {
            endings.execute(
                RepeatedTask.of(
                    "give up a call of " + call.method(),
                    log,
                    () -> call.giveUp(() -> warn(call))));
            state.givenUp = true;
          }
        });
  }

  private boolean isDue(Call call, State state, long now) {
    if (call.isOver()) {
      if (!state.over) {
        state.over = true;
        state.overSince = now;
      }
      return now - state.overSince >= lease.toNanos();
    }
    return !call.hasDeadline() && now - state.begun >= limit.toNanos();
  }

  private void warn(Call call) {
    String why =
        call.isOver()
            ? "its client stopped waiting more than %s ago".formatted(lease)
            : "it has no deadline and has run for more than %s".formatted(limit);
    log.warn(
        call.method() + " unanswered",
        null,
        "%s: %s was not answered, and %s. %s Let the handler answer on every path, even if a future fails."
            .formatted(call.method(), call.subject(), why, call.consequence()));
  }
}
