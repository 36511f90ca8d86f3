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
import org.slf4j.LoggerFactory;

/**
 * Lets duplicates wait for a running call without a thread or a connection:
 *
 * <ol>
 *   <li>Waiters of one key form a queue. Its end is told by the lease keeper if this process runs
 *       the call, by the store's {@link CompletionWatch} otherwise.
 *   <li>Once told, a single probe claims the key for the whole queue, on behalf of its head.
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
    private final KeyedRequest request;
    private final ClaimResult.InFlight met;
    private final Consumer<ClaimResult> resume;
    private Optional<Future<?>> timeout = Optional.empty();

    private Waiter(KeyedRequest request, ClaimResult.InFlight met, Consumer<ClaimResult> resume) {
      this.request = request;
      this.met = met;
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
   * Waits for the end of what runs under the request's key.
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
    Waiter waiter = new Waiter(request, met, resume);
    boolean waits =
        queues.add(
            request.key(),
            waiter,
            () -> {
              waiter.timeout =
                  Optional.of(
                      timer.schedule(
                          () -> timeOut(waiter), limit.toMillis(), TimeUnit.MILLISECONDS));
              watchUnlessOwn(request);
            });
    if (!waits) {
      resume(waiter, met);
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
  private void watchUnlessOwn(KeyedRequest request) {
    queues.ifAwaited(
        request.key(),
        () -> {
          if (leases.inFlight(request.key()).isEmpty()) {
            watch.add(request.key());
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
        hand(claim.apply(head.get().request), head.get());
      } catch (Throwable unexpected) {
        wakeLater(key);
        log.error("probe", unexpected, "could not look after waiting calls; trying again");
      }
    }
  }

  private void hand(ClaimResult result, Waiter head) {
    IdempotencyKey key = head.request.key();
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
                return inFlight.outcomeUnknown()
                    ? () -> resumeAll(key, inFlight)
                    : () -> watchUnlessOwn(head.request);
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
      resume(waiter, result);
    }
  }

  private void handOver(ClaimResult.Won won, Waiter head) {
    boolean taken = leave(head) && resume(head, won);
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
      resume(waiter, waiter.met);
    }
  }

  /** Returns whether the waiter was still waiting; whoever is told so resumes it. */
  private boolean leave(Waiter waiter) {
    boolean waited = queues.remove(waiter.request.key(), waiter);
    if (waited) {
      stopTimeout(waiter);
    }
    return waited;
  }

  private void resumeWithWhatItMet(Waiter waiter) {
    stopTimeout(waiter);
    resume(waiter, waiter.met);
  }

  private static void stopTimeout(Waiter waiter) {
    waiter.timeout.ifPresent(timeout -> timeout.cancel(false));
  }

  /** Returns whether the waiter took it: what one throws is no other's business. */
  private boolean resume(Waiter waiter, ClaimResult result) {
    try {
      waiter.resume.accept(result);
      return true;
    } catch (Throwable thrown) {
      log.error("resume", thrown, "a call that had waited could not go on");
      return false;
    }
  }
}
