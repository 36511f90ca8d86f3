package io.github.grpcidempotency.runtime;

import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.ClaimRequest;
import io.github.grpcidempotency.store.ClaimResult;
import io.github.grpcidempotency.store.EndWatch;
import io.github.grpcidempotency.store.IdempotencyStore;
import io.github.grpcidempotency.store.StoreException;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets duplicates wait for a running call without a thread or a connection:
 *
 * <ol>
 *   <li>Waiters of one key form a queue. Its end is told by the lease keeper if this process runs
 *       the call, by the store's {@link EndWatch} otherwise.
 *   <li>Once told, a single scout claims the key for the whole queue, on behalf of its head.
 *   <li>An answer stands there: every waiter gets it. The claim won: the head runs the handler, and
 *       the others go on waiting, for it now. Somebody else was faster: all go on waiting.
 * </ol>
 *
 * <p>Thread-safe. Waiters are resumed on one of a few threads and must not block them.
 */
public final class InFlightWaiter implements AutoCloseable {
  private static final Logger logger = LoggerFactory.getLogger(InFlightWaiter.class);
  private static final int SCOUTS = 4;
  private static final Duration AFTER_OUTAGE = Duration.ofSeconds(1);

  private final Function<ClaimRequest, ClaimResult> claim;
  private final LeaseKeeper leases;
  private final EndWatch watch;
  private final Map<IdempotencyKey, Queue> queues = new HashMap<>();
  private final ExecutorService scouts =
      Executors.newFixedThreadPool(SCOUTS, DaemonThreads.named("idempotency-scout"));
  private final ScheduledExecutorService timer = newTimer();

  /** One waiting call. */
  public final class Waiter {
    private final ClaimRequest request;
    private final ClaimResult.InFlight met;
    private final Consumer<ClaimResult> resume;
    private Optional<Future<?>> timeout = Optional.empty();

    private Waiter(ClaimRequest request, ClaimResult.InFlight met, Consumer<ClaimResult> resume) {
      this.request = request;
      this.met = met;
      this.resume = resume;
    }

    /** Gives up waiting: the call was cancelled. It is not resumed, unless it already is. */
    public void cancel() {
      leave(this);
    }
  }

  private static final class Queue {
    private final Set<Waiter> waiters = new LinkedHashSet<>();
    private boolean woken;
    private boolean scouting;
  }

  /**
   * Makes a waiter.
   *
   * @param claim claims a key, and never throws for a store out of reach
   * @param leases knows what this process runs
   * @param store knows what others run
   */
  public InFlightWaiter(
      Function<ClaimRequest, ClaimResult> claim, LeaseKeeper leases, IdempotencyStore store) {
    this.claim = claim;
    this.leases = leases;
    this.watch = store.watch(this::wake);
    leases.onDrop(this::wake);
  }

  /**
   * Waits for the end of what runs under the request's key.
   *
   * @param met what runs there; the waiter is resumed with it when the limit is over
   * @param limit how long to wait
   * @param resume gets what a new claim came to, once, unless the waiter is cancelled first
   */
  public Waiter await(
      ClaimRequest request,
      ClaimResult.InFlight met,
      Duration limit,
      Consumer<ClaimResult> resume) {
    Waiter waiter = new Waiter(request, met, resume);
    synchronized (this) {
      waiter.timeout =
          Optional.of(
              timer.schedule(() -> timeOut(waiter), limit.toMillis(), TimeUnit.MILLISECONDS));
      queues.computeIfAbsent(request.key(), key -> new Queue()).waiters.add(waiter);
      watchUnlessOwn(request);
    }
    return waiter;
  }

  /** Stops waking anybody. */
  @Override
  public synchronized void close() {
    watch.close();
    timer.shutdownNow();
    scouts.shutdownNow();
  }

  /** A call that timed out, or was cancelled, leaves nothing of itself in the timer. */
  private static ScheduledExecutorService newTimer() {
    ScheduledThreadPoolExecutor timer =
        new ScheduledThreadPoolExecutor(
            1, DaemonThreads.named("idempotency-wait"), new ThreadPoolExecutor.DiscardPolicy());
    timer.setRemoveOnCancelPolicy(true);
    return timer;
  }

  /** Looks out for what others run, as long as somebody waits for it. */
  private synchronized void watchUnlessOwn(ClaimRequest request) {
    if (queues.containsKey(request.key()) && leases.standing(request.key()).isEmpty()) {
      watch.add(request);
    }
  }

  private synchronized void wake(IdempotencyKey key) {
    Queue queue = queues.get(key);
    if (queue == null || scouts.isShutdown()) {
      return;
    }
    queue.woken = true;
    if (!queue.scouting) {
      queue.scouting = true;
      scouts.execute(() -> scout(key));
    }
  }

  private void scout(IdempotencyKey key) {
    Optional<Waiter> head = nextToScoutFor(key);
    while (head.isPresent()) {
      try {
        hand(claim.apply(head.get().request), head.get());
      } catch (RuntimeException unexpected) {
        logger.error("could not look after waiting calls", unexpected);
        wakeLater(key);
      }
      head = nextToScoutFor(key);
    }
  }

  /** Returns the head of a queue that was woken since it was last looked after. */
  private synchronized Optional<Waiter> nextToScoutFor(IdempotencyKey key) {
    Queue queue = queues.get(key);
    if (queue == null) {
      return Optional.empty();
    }
    queue.scouting = queue.woken;
    queue.woken = false;
    return queue.scouting ? queue.waiters.stream().findFirst() : Optional.empty();
  }

  private void hand(ClaimResult result, Waiter head) {
    IdempotencyKey key = head.request.key();
    if (result instanceof ClaimResult.Won won) {
      handOver(won, head);
    } else if (result instanceof ClaimResult.Recorded || isUnknown(result)) {
      leaveAll(key).forEach(waiter -> waiter.resume.accept(result));
    } else if (result instanceof ClaimResult.InFlight) {
      watchUnlessOwn(head.request);
    } else {
      wakeLater(key);
    }
  }

  /** Nobody waits for an outcome that nobody will ever tell. */
  private static boolean isUnknown(ClaimResult result) {
    return result instanceof ClaimResult.InFlight inFlight && inFlight.standing().outcomeUnknown();
  }

  private void handOver(ClaimResult.Won won, Waiter head) {
    if (!leave(head)) {
      giveBack(won.claim());
      return;
    }
    try {
      head.resume.accept(won);
    } catch (RuntimeException refused) {
      giveBack(won.claim());
      throw refused;
    }
  }

  /** The claim was won for a head that was cancelled meanwhile, or cannot go on. */
  private void giveBack(Claim claim) {
    try {
      Claim.Settled unused = claim.release();
    } catch (StoreException unreachable) {
      logger.warn("could not release operation {}", claim.operationId(), unreachable);
    }
    wake(claim.request().key());
  }

  private void wakeLater(IdempotencyKey key) {
    ScheduledFuture<?> unused =
        timer.schedule(() -> wake(key), AFTER_OUTAGE.toMillis(), TimeUnit.MILLISECONDS);
  }

  private void timeOut(Waiter waiter) {
    if (leave(waiter)) {
      waiter.resume.accept(waiter.met);
    }
  }

  /** Returns whether the waiter was still waiting; whoever is told so resumes it. */
  private synchronized boolean leave(Waiter waiter) {
    IdempotencyKey key = waiter.request.key();
    Queue queue = queues.get(key);
    if (queue == null || !queue.waiters.remove(waiter)) {
      return false;
    }
    waiter.timeout.ifPresent(timeout -> timeout.cancel(false));
    if (queue.waiters.isEmpty()) {
      queues.remove(key);
      watch.remove(key);
    }
    return true;
  }

  private synchronized List<Waiter> leaveAll(IdempotencyKey key) {
    Queue queue = queues.remove(key);
    if (queue == null) {
      return List.of();
    }
    watch.remove(key);
    queue.waiters.forEach(waiter -> waiter.timeout.ifPresent(timeout -> timeout.cancel(false)));
    return List.copyOf(queue.waiters);
  }
}
