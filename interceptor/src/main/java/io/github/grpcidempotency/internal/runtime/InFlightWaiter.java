package io.github.grpcidempotency.internal.runtime;

import io.github.grpcidempotency.internal.background.DaemonThreads;
import io.github.grpcidempotency.internal.log.RateLimitedLog;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.ClaimResult;
import io.github.grpcidempotency.store.CompletionWatch;
import io.github.grpcidempotency.store.IdempotencyStore;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.LoggerFactory;

/**
 * Lets duplicates wait for a running call without a thread or a connection:
 *
 * <ol>
 *   <li>Waiters of one key form a queue. The lease keeper reports the end of the running call if
 *       this process runs it; otherwise the store's {@link CompletionWatch} does.
 *   <li>When the end is reported, a single probe claims the key for the whole queue, on behalf of
 *       its head. If the head does not want to run anything, the probe only reads what is recorded.
 *   <li>If an answer is recorded, every waiter gets it. If the claim is won, the head runs the
 *       handler, and the others now wait for the head. If somebody else was faster, all go on
 *       waiting.
 *   <li>A waiter whose limit is over, or that still waits when this is closed, gets the running
 *       call that it has met.
 * </ol>
 *
 * <p>Whatever the store or a waiter throws, even an {@link Error}, the queue is probed again.
 *
 * <p>Thread-safe. Waiters are resumed on one of a few threads and must not block them.
 */
public final class InFlightWaiter implements AutoCloseable {
  private static final int PROBES = 4;
  private static final Duration AFTER_OUTAGE = Duration.ofSeconds(1);

  private final RateLimitedLog log =
      RateLimitedLog.of(LoggerFactory.getLogger(InFlightWaiter.class));
  private final Function<KeyedRequest, ClaimResult> claim;
  private final LeaseKeeper leases;
  private final CompletionWatch watch;
  private final WaitQueues<IdempotencyKey, Waiter> queues;
  private final ExecutorService probes;
  private final ScheduledExecutorService timer;

  /** One waiting call. */
  public final class Waiter {
    private final IdempotencyKey key;
    private final ClaimResult.InFlight met;
    private final boolean claims;
    private final Supplier<Optional<ClaimResult>> ask;
    private final BiConsumer<Optional<ClaimResult>, Duration> resume;
    private Optional<Future<?>> timeout = Optional.empty();

    private Waiter(
        IdempotencyKey key,
        ClaimResult.InFlight met,
        boolean claims,
        Supplier<Optional<ClaimResult>> ask,
        BiConsumer<Optional<ClaimResult>, Duration> resume) {
      this.key = key;
      this.met = met;
      this.claims = claims;
      this.ask = ask;
      this.resume = resume;
    }

    /**
     * Gives up waiting, because the call was cancelled. The call is not resumed, unless it already
     * is.
     *
     * @return whether it was still waiting
     */
    public boolean cancel() {
      return leave(this);
    }
  }

  /**
   * Makes a waiter.
   *
   * @param claim claims a key, and never throws if the store fails
   * @param leases knows what this process runs
   * @param store knows what others run
   */
  InFlightWaiter(
      Function<KeyedRequest, ClaimResult> claim, LeaseKeeper leases, IdempotencyStore store) {
    this(
        claim,
        leases,
        store,
        Executors.newFixedThreadPool(PROBES, DaemonThreads.named("idempotency-probe")),
        DaemonThreads.newTimer("idempotency-wait"));
  }

  InFlightWaiter(
      Function<KeyedRequest, ClaimResult> claim,
      LeaseKeeper leases,
      IdempotencyStore store,
      ExecutorService probes,
      ScheduledExecutorService timer) {
    this.claim = claim;
    this.leases = leases;
    this.probes = probes;
    this.timer = timer;
    this.watch = store.watch(this::wake);
    this.queues = new WaitQueues<>(this::unwatch);
    leases.onDrop(this::wake);
  }

  /**
   * Waits for the end of the call that runs under the request's key, and then claims the key.
   *
   * @param met what runs there; the waiter is resumed with it when the limit is over, or when there
   *     is no waiting any more because this is closed
   * @param limit how long to wait
   * @param resume gets the result of a new claim, and how long that took, once, unless the waiter
   *     is cancelled first
   */
  public Waiter await(
      KeyedRequest request,
      ClaimResult.InFlight met,
      Duration limit,
      BiConsumer<ClaimResult, Duration> resume) {
    return await(
        new Waiter(
            request.key(),
            met,
            true,
            () -> Optional.of(claim.apply(request)),
            (result, took) -> resume.accept(result.orElseThrow(), took)),
        limit);
  }

  /**
   * Waits for the end of the call that runs under a key, and then reads its outcome.
   *
   * @param met what runs there; the waiter is resumed with it when the limit is over, or when there
   *     is no waiting any more because this is closed
   * @param limit how long to wait
   * @param find reads the outcome; empty if nothing is left
   * @param resume gets what was found, and how long that took, once, unless the waiter is cancelled
   *     first; it may be an abandoned reservation
   */
  public Waiter await(
      IdempotencyKey key,
      ClaimResult.InFlight met,
      Duration limit,
      Supplier<Optional<ClaimResult>> find,
      BiConsumer<Optional<ClaimResult>, Duration> resume) {
    return await(new Waiter(key, met, false, find, resume), limit);
  }

  private Waiter await(Waiter waiter, Duration limit) {
    boolean waits =
        queues.add(
            waiter.key,
            waiter,
            () -> {
              waiter.timeout =
                  Optional.of(
                      timer.schedule(
                          () -> timeOut(waiter), limit.toMillis(), TimeUnit.MILLISECONDS));
              watchUnlessOwn(waiter.key);
            });
    if (!waits) {
      resumeWithWhatItMet(waiter);
    }
    return waiter;
  }

  /** Returns how many calls wait. Does not block. */
  int count() {
    return queues.count();
  }

  /** Ends all waiting. A claim that is under way for a waiter is released once it is won. */
  @Override
  public void close() {
    queues.close().forEach(this::resumeWithWhatItMet);
    timer.shutdownNow();
    probes.shutdown();
    watch.close();
  }

  /** Watches a key that another process holds, as long as somebody waits for it. */
  private void watchUnlessOwn(IdempotencyKey key) {
    queues.ifAwaited(
        key,
        () -> {
          if (leases.inFlight(key).isEmpty()) {
            watch.add(key);
          }
        });
  }

  private void unwatch(IdempotencyKey key) {
    try {
      watch.remove(key);
    } catch (Throwable watchedStill) {
      log.error("unwatch", watchedStill, "the store could not stop watching a key");
    }
  }

  private void wake(IdempotencyKey key) {
    if (queues.wake(key)) {
      try {
        probes.execute(() -> probe(key));
      } catch (Throwable noThread) {
        queues.giveUp(key);
        wakeLater(key);
      }
    }
  }

  private void probe(IdempotencyKey key) {
    for (Optional<Waiter> head = queues.nextHead(key);
        head.isPresent();
        head = queues.nextHead(key)) {
      try {
        long begun = System.nanoTime();
        Optional<ClaimResult> found = head.get().ask.get();
        hand(found, Duration.ofNanos(System.nanoTime() - begun), head.get());
      } catch (Throwable unexpected) {
        wakeLater(key);
        log.error("probe", unexpected, "could not probe for waiting calls; trying again");
      }
    }
  }

  private void hand(Optional<ClaimResult> found, Duration took, Waiter head) {
    IdempotencyKey key = head.key;
    if (found.isEmpty()) {
      resumeAlone(head, found, took);
      return;
    }
    ClaimResult result = found.get();
    Runnable next =
        result.accept(
            new ClaimResult.Visitor<>() {
              @Override
              public Runnable won(ClaimResult.Won won) {
                return () -> handOver(won, took, head);
              }

              @Override
              public Runnable recorded(ClaimResult.Recorded recorded) {
                return () -> resumeAll(key, recorded, took);
              }

              /** Nobody waits for an outcome that will stay unknown. */
              @Override
              public Runnable inFlight(ClaimResult.InFlight inFlight) {
                if (inFlight.outcomeUnknown()) {
                  return () -> resumeAll(key, inFlight, took);
                }
                return !head.claims && inFlight.isAbandoned()
                    ? () -> resumeAlone(head, found, took)
                    : () -> watchUnlessOwn(key);
              }

              @Override
              public Runnable unanswered(ClaimResult.Unanswered unanswered) {
                return () -> wakeLater(key);
              }
            });
    next.run();
  }

  private void resumeAll(IdempotencyKey key, ClaimResult result, Duration took) {
    for (Waiter waiter : queues.removeAll(key)) {
      stopTimeout(waiter);
      resume(waiter, Optional.of(result), took);
    }
  }

  /**
   * A head that only asks learns that nobody runs the call any more; the next may claim the key.
   */
  private void resumeAlone(Waiter head, Optional<ClaimResult> found, Duration took) {
    if (leave(head)) {
      boolean unused = resume(head, found, took);
    }
    wake(head.key);
  }

  private void handOver(ClaimResult.Won won, Duration took, Waiter head) {
    boolean taken = leave(head) && resume(head, Optional.of(won), took);
    if (!taken) {
      giveBack(won.claim());
    }
  }

  /** Releases a claim that was won for a head that was cancelled meanwhile, or cannot go on. */
  private void giveBack(Claim claim) {
    try {
      Claim.Settled unused = claim.release();
    } catch (Throwable unreleased) {
      log.warn("release", unreleased, "could not release a key whose call no longer waits");
    }
    wake(claim.request().key());
  }

  private void wakeLater(IdempotencyKey key) {
    ScheduledFuture<?> unused =
        timer.schedule(() -> wake(key), AFTER_OUTAGE.toMillis(), TimeUnit.MILLISECONDS);
  }

  private void timeOut(Waiter waiter) {
    if (leave(waiter)) {
      resumeWithWhatItMet(waiter);
    }
  }

  /** Returns whether the waiter was still waiting; if so, the caller of this method resumes it. */
  private boolean leave(Waiter waiter) {
    boolean waited = queues.remove(waiter.key, waiter);
    if (waited) {
      stopTimeout(waiter);
    }
    return waited;
  }

  private void resumeWithWhatItMet(Waiter waiter) {
    stopTimeout(waiter);
    boolean unused = resume(waiter, Optional.of(waiter.met), Duration.ZERO);
  }

  private static void stopTimeout(Waiter waiter) {
    waiter.timeout.ifPresent(timeout -> timeout.cancel(false));
  }

  /**
   * Returns whether the waiter took the result. An exception of one waiter does not affect others.
   */
  private boolean resume(Waiter waiter, Optional<ClaimResult> result, Duration took) {
    try {
      waiter.resume.accept(result, took);
      return true;
    } catch (Throwable thrown) {
      log.error("resume", thrown, "a call that had waited could not go on");
      return false;
    }
  }
}
