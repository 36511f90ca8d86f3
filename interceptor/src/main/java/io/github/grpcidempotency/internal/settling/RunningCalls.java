package io.github.grpcidempotency.internal.settling;

import io.github.grpcidempotency.background.DaemonThreads;
import io.github.grpcidempotency.background.RateLimitedLog;
import io.github.grpcidempotency.background.RepeatedTask;
import io.github.grpcidempotency.background.RepeatedWhile;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.LoggerFactory;

/**
 * The calls of this process that are not answered. A handler whose method has not returned is given
 * up when it has run for the call limit and its client, if it has a deadline, is gone. A handler
 * that has returned without an answer is also given up some time after its call was cancelled, or
 * is past its deadline, if nobody waits for its key any more.
 *
 * <p>All calls are checked three times per lease, so a call needs no timer. Calls are given up on
 * other threads than the one that checks, because giving up may block on the store.
 *
 * <p>Thread-safe. The checks do not block the timer. Up to four daemon threads while calls are
 * given up. There is nothing to close: a call that still runs when its interceptor is closed is
 * given up all the same.
 */
public final class RunningCalls {
  private static final int ENDING_THREADS = 4;

  /** Longer limits count as this one, so that times in nanoseconds do not overflow. */
  private static final Duration LONGEST = Duration.ofDays(365);

  /** A call whose handler has not answered. */
  public interface Call {
    String method();

    boolean hasDeadline();

    /** Returns whether the handler's method has returned. */
    boolean hasReturned();

    /** Returns whether the client no longer waits: the call is cancelled or past its deadline. */
    boolean isOver();

    /** Returns whether another call waits for the end of this one, or has looked for it lately. */
    boolean isAwaited();

    /**
     * Returns how long a handler that has returned without an answer keeps its key when nobody
     * waits for the answer; empty for one lease.
     */
    Optional<Duration> unansweredLimit();

    String subject();

    /** Returns, as a sentence, the consequence for the effect of a handler that is given up. */
    String consequence();

    /**
     * Ends the call, unless its handler has answered. May block.
     *
     * @param report runs first, if the call is ended
     */
    void giveUp(Runnable report);
  }

  private static final class State {
    private final long begun = System.nanoTime();
    private long deserted;
    private boolean over;
    private boolean givenUp;
  }

  private final RateLimitedLog log;
  private final Duration lease;
  private final Duration limit;
  private final Map<Call, State> running = new ConcurrentHashMap<>();
  private final RepeatedWhile checks;
  private final ExecutorService endings;

  public RunningCalls(Duration lease, Duration limit, ScheduledExecutorService timer) {
    this.lease = lease;
    this.limit = limit.compareTo(LONGEST) < 0 ? limit : LONGEST;
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
    this.checks =
        new RepeatedWhile(
            timer,
            lease.dividedBy(3),
            RepeatedTask.of("check running calls", log, this::check),
            () -> !running.isEmpty());
  }

  public void begin(Call call) {
    running.put(call, new State());
    checks.start();
  }

  public void end(Call call) {
    running.remove(call);
  }

  /**
   * Returns how long the oldest call has been running; zero if no call is running. Does not block.
   */
  public Duration oldest() {
    long now = System.nanoTime();
    long oldest = 0;
    for (State state : running.values()) {
      oldest = Math.max(oldest, now - state.begun);
    }
    return Duration.ofNanos(oldest);
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
                    () -> call.giveUp(() -> warn(call, state))));
            state.givenUp = true;
          }
        });
  }

  private boolean isDue(Call call, State state, long now) {
    boolean over = call.isOver();
    if (now - state.begun >= limit.toNanos() && (over || !call.hasDeadline())) {
      return true;
    }
    if (!over || !call.hasReturned()) {
      return false;
    }
    if (!state.over || call.isAwaited()) {
      state.over = true;
      state.deserted = now;
    }
    return now - state.deserted >= call.unansweredLimit().orElse(lease).toNanos();
  }

  private void warn(Call call, State state) {
    Duration age = Duration.ofNanos(System.nanoTime() - state.begun);
    String why =
        age.compareTo(limit) >= 0
            ? "it has run for more than %s".formatted(limit)
            : "nobody has waited for it for %s".formatted(call.unansweredLimit().orElse(lease));
    log.warn(
        call.method() + " unanswered",
        null,
        "%s: %s was not answered, and %s. %s Let the handler answer on every path, even if a future fails."
            .formatted(call.method(), call.subject(), why, call.consequence()));
  }
}
