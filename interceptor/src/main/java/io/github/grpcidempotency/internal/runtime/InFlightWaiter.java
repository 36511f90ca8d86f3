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
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.LoggerFactory;

/**
 * Lets duplicates wait for a running call without a thread or a connection:
 *
 * <ol>
 *   <li>Waiters of one key form a queue. Its end is told by the lease keeper if this process runs
 *       the call, by the store's {@link CompletionWatch} otherwise.
 *   <li>Once told, a single probe claims the key for the whole queue, on behalf of its head; or
 *       only finds out what is recorded, if the head does not want to run anything.
 *   <li>An answer stands there: every waiter gets it. The claim won: the head runs the handler, and
 *       the others go on waiting, for it now. Somebody else was faster: all go on waiting.
 *   <li>A waiter whose limit is over, or that still waits when this is closed, gets what it met.
 * </ol>
 *
 * <p>Whatever the store or a waiter throws, an {@link Error} even, the queue is looked after again.
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
    private final Consumer<Optional<ClaimResult>> resume;
    private Optional<Future<?>> timeout = Optional.empty();

    private Waiter(
        IdempotencyKey key,
        ClaimResult.InFlight met,
        boolean claims,
        Supplier<Optional<ClaimResult>> ask,
        Consumer<Optional<ClaimResult>> resume) {
      this.key = key;
      this.met = met;
      this.claims = claims;
      this.ask = ask;
      this.resume = resume;
    }

    /** Gives up waiting: the call was cancelled. It is not resumed, unless it already is. */
    public void cancel() {
      boolean unused = leave(this);
    }
  }

  /**
   * Makes a waiter.
   *
   * @param claim claims a key, and never throws for a store out of reach
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
   * Waits for the end of what runs under the request's key, to claim it then.
   *
   * @param met what runs there; the waiter is resumed with it when the limit is over, or when there
   *     is no waiting any more because this is closed
   * @param limit how long to wait
   * @param resume gets what a new claim came to, once, unless the waiter is cancelled first
   */
  public Waiter await(
      KeyedRequest request,
      ClaimResult.InFlight met,
      Duration limit,
      Consumer<ClaimResult> resume) {
    return await(
        new Waiter(
            request.key(),
            met,
            true,
            () -> Optional.of(claim.apply(request)),
            result -> resume.accept(result.orElseThrow())),
        limit);
  }

  /**
   * Waits for the end of what runs under a key, to learn what has come of it.
   *
   * @param met what runs there; the waiter is resumed with it when the limit is over, or when there
   *     is no waiting any more because this is closed
   * @param limit how long to wait
   * @param find finds out what has come of it; empty if nothing is left
   * @param resume gets what was found out, be it that nobody runs it any more, once, unless the
   *     waiter is cancelled first
   */
  public Waiter await(
      IdempotencyKey key,
      ClaimResult.InFlight met,
      Duration limit,
      Supplier<Optional<ClaimResult>> find,
      Consumer<Optional<ClaimResult>> resume) {
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
      boolean unused = resume(waiter, Optional.of(waiter.met));
    }
    return waiter;
  }

  /** Ends all waiting. A claim that is under way for a waiter is given back once it has won. */
  @Override
  public void close() {
    queues.close().forEach(this::resumeWithWhatItMet);
    timer.shutdownNow();
    probes.shutdown();
    watch.close();
  }

  /** Looks out for what others run, as long as somebody waits for it. */
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
        hand(head.get().ask.get(), head.get());
      } catch (Throwable unexpected) {
        wakeLater(key);
        log.error("probe", unexpected, "could not look after waiting calls; trying again");
      }
    }
  }

  private void hand(Optional<ClaimResult> found, Waiter head) {
    IdempotencyKey key = head.key;
    if (found.isEmpty()) {
      resumeAlone(head, found);
      return;
    }
    ClaimResult result = found.get();
    Runnable next =
        result.accept(
            new ClaimResult.Visitor<>() {
              @Override
              public Runnable won(ClaimResult.Won won) {
                return () -> handOver(won, head);
              }

              @Override
              public Runnable recorded(ClaimResult.Recorded recorded) {
                return () -> resumeAll(key, recorded);
              }

              /** Nobody waits for an outcome that nobody will ever tell. */
              @Override
              public Runnable inFlight(ClaimResult.InFlight inFlight) {
                if (inFlight.outcomeUnknown()) {
                  return () -> resumeAll(key, inFlight);
                }
                return !head.claims && inFlight.isAbandoned()
                    ? () -> resumeAlone(head, found)
                    : () -> watchUnlessOwn(key);
              }

              @Override
              public Runnable unanswered(ClaimResult.Unanswered unanswered) {
                return () -> wakeLater(key);
              }
            });
    next.run();
  }

  private void resumeAll(IdempotencyKey key, ClaimResult result) {
    for (Waiter waiter : queues.removeAll(key)) {
      stopTimeout(waiter);
      resume(waiter, Optional.of(result));
    }
  }

  /** Who only asks is told that nobody runs it any more, and the next may claim the key. */
  private void resumeAlone(Waiter head, Optional<ClaimResult> found) {
    if (leave(head)) {
      boolean unused = resume(head, found);
    }
    wake(head.key);
  }

  private void handOver(ClaimResult.Won won, Waiter head) {
    boolean taken = leave(head) && resume(head, Optional.of(won));
    if (!taken) {
      giveBack(won.claim());
    }
  }

  /** The claim was won for a head that was cancelled meanwhile, or cannot go on. */
  private void giveBack(Claim claim) {
    try {
      Claim.Settled unused = claim.release();
    } catch (Throwable unreleased) {
      log.warn("release", unreleased, "could not release a key whose call waits no more");
    }
    wake(claim.request().key());
  }

  private void wakeLater(IdempotencyKey key) {
    ScheduledFuture<?> unused =
        timer.schedule(() -> wake(key), AFTER_OUTAGE.toMillis(), TimeUnit.MILLISECONDS);
  }

  private void timeOut(Waiter waiter) {
    if (leave(waiter)) {
      resume(waiter, Optional.of(waiter.met));
    }
  }

  /** Returns whether the waiter was still waiting; whoever is told so resumes it. */
  private boolean leave(Waiter waiter) {
    boolean waited = queues.remove(waiter.key, waiter);
    if (waited) {
      stopTimeout(waiter);
    }
    return waited;
  }

  private void resumeWithWhatItMet(Waiter waiter) {
    stopTimeout(waiter);
    resume(waiter, Optional.of(waiter.met));
  }

  private static void stopTimeout(Waiter waiter) {
    waiter.timeout.ifPresent(timeout -> timeout.cancel(false));
  }

  /** Returns whether the waiter took it: what one throws is no other's business. */
  private boolean resume(Waiter waiter, Optional<ClaimResult> result) {
    try {
      waiter.resume.accept(result);
      return true;
    } catch (Throwable thrown) {
      log.error("resume", thrown, "a call that had waited could not go on");
      return false;
    }
  }
}
