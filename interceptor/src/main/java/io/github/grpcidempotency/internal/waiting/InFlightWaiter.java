package io.github.grpcidempotency.internal.waiting;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.partitioningBy;

import io.github.grpcidempotency.background.DaemonThreads;
import io.github.grpcidempotency.background.RateLimitedLog;
import io.github.grpcidempotency.internal.record.KeyedRequest;
import io.github.grpcidempotency.internal.settling.LeaseKeeper;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.CompletionWatch;
import io.github.grpcidempotency.spi.IdempotencyStore;
import io.github.grpcidempotency.store.StoreException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import org.slf4j.LoggerFactory;

/**
 * Lets duplicates wait for a running call without a thread or a connection. A waiter reads the
 * record; it never claims the key:
 *
 * <ol>
 *   <li>Waiters of one key form a queue. The lease keeper reports the end of the running call if
 *       this process runs it; otherwise the store's {@link CompletionWatch} does.
 *   <li>When the end is reported, the record is read once for each procedure that has waiting
 *       calls, because the procedure defines how its resource and status are read.
 *   <li>If an answer is recorded, every waiter of the procedure gets it. If the call, or another
 *       call, is still running, all continue to wait.
 *   <li>If the key has no record, or only an abandoned reservation, the first waiter in the queue
 *       has its turn: it claims the key for itself. The others wait until this call has ended, or
 *       has given up its turn. Calls that only read the outcome get the result at once.
 *   <li>If a waiter's time limit is over, if too many calls wait, or if this object is closed, the
 *       waiter gets the running call that was last seen.
 * </ol>
 *
 * <p>After any exception of the store or of a waiter, even an {@link Error}, the record is read
 * again.
 *
 * <p>Thread-safe. Waiters are resumed on one of a few threads and must not block them.
 */
public final class InFlightWaiter implements AutoCloseable {
  private static final int PROBES = 4;
  private static final Duration AFTER_OUTAGE = Duration.ofSeconds(1);

  private final RateLimitedLog log =
      RateLimitedLog.of(LoggerFactory.getLogger(InFlightWaiter.class));
  private final BiFunction<IdempotencyKey, Procedure, Optional<ClaimResult>> find;
  private final LeaseKeeper leases;
  private final WaitCapacity room;
  private final CompletionWatch watch;
  private final WaitQueues<IdempotencyKey, Waiter> queues;
  private final ExecutorService probes;
  private final ScheduledExecutorService timer;

  /**
   * Receives the end of a wait. Exactly one method is called, once, unless the waiter is cancelled
   * first. No method may block.
   */
  public interface Waiting {
    /**
     * Called if the call that was waited for has an answer, or its outcome is unknown. A call that
     * only reads the outcome may also get an abandoned reservation.
     */
    void found(ClaimResult result, Duration took);

    /**
     * Called if the key has no record. A call that may run has its turn now: it claims the key
     * itself, on its own thread, and then calls {@link Waiter#endTurn}.
     */
    void free();

    /**
     * Called if the time limit is over, if too many calls wait, or if this server stops.
     *
     * @param met the call that was waited for, which was running when it was last seen
     */
    void over(ClaimResult.InFlight met);
  }

  /** One waiting call. */
  public final class Waiter {
    private final IdempotencyKey key;
    private final Procedure procedure;
    private final boolean mayRun;
    private final int bytes;
    private final Waiting waiting;
    private Optional<Future<?>> timeout = Optional.empty();
    private ClaimResult.InFlight met = ClaimResult.InFlight.unseen();

    private Waiter(
        IdempotencyKey key, Procedure procedure, boolean mayRun, int bytes, Waiting waiting) {
      this.key = key;
      this.procedure = procedure;
      this.mayRun = mayRun;
      this.bytes = bytes;
      this.waiting = waiting;
    }

    /** Starts to wait for the end of the call that owns the key. Called once. */
    public void begin(ClaimResult.InFlight running, Duration limit) {
      met = running;
      InFlightWaiter.this.begin(this, limit);
    }

    /**
     * Stops waiting, or gives up the turn, because the call was cancelled. The call is not resumed,
     * unless this has already happened.
     *
     * @return whether it was still waiting
     */
    public boolean cancel() {
      boolean waited = leave(this);
      if (!waited) {
        endTurn();
      }
      return waited;
    }

    /**
     * Ends the turn of this call, if it still has it, so that the next call has its turn. The turn
     * of a call that has won the key ends earlier, as soon as its lease is being renewed.
     */
    public void endTurn() {
      if (queues.endTurn(key, this)) {
        wake(key);
      }
    }
  }

  /** Creates a waiter on a timer, whose thread it never blocks. */
  public InFlightWaiter(
      BiFunction<IdempotencyKey, Procedure, Optional<ClaimResult>> find,
      LeaseKeeper leases,
      IdempotencyStore store,
      WaitCapacity room,
      ScheduledExecutorService timer) {
    this(
        find,
        leases,
        store,
        room,
        Executors.newFixedThreadPool(PROBES, DaemonThreads.named("idempotency-probe")),
        timer);
  }

  public InFlightWaiter(
      BiFunction<IdempotencyKey, Procedure, Optional<ClaimResult>> find,
      LeaseKeeper leases,
      IdempotencyStore store,
      WaitCapacity room,
      ExecutorService probes,
      ScheduledExecutorService timer) {
    this.find = find;
    this.leases = leases;
    this.room = room;
    this.probes = probes;
    this.timer = timer;
    this.watch = store.watch(this::wake);
    this.queues = new WaitQueues<>(this::unwatch);
    leases.onDrop(this::wake);
  }

  /** Returns a waiter for a call that runs if the call that owns its key leaves no answer. */
  public Waiter toRun(KeyedRequest request, Waiting waiting) {
    return new Waiter(
        request.key(), request.procedure(), true, request.message().getSerializedSize(), waiting);
  }

  /** Returns a waiter for a call that only reads the outcome of the call that owns a key. */
  public Waiter toRead(IdempotencyKey key, Procedure procedure, Waiting waiting) {
    return new Waiter(key, procedure, false, 0, waiting);
  }

  private void begin(Waiter waiter, Duration limit) {
    if (!room.enter(waiter.key, waiter.bytes)) {
      over(waiter);
      return;
    }
    boolean waits = false;
    try {
      waits =
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
    } finally {
      if (!waits) {
        takenOut(waiter);
      }
    }
    if (!waits) {
      over(waiter);
    }
  }

  /** Returns whether calls wait for a key. Does not block. */
  public boolean isAwaited(IdempotencyKey key) {
    return queues.isAwaited(key);
  }

  /** Returns how many calls wait. Does not block. */
  public int count() {
    return queues.count();
  }

  /** Called when a call of this process has won a key, which ends the turn of the first waiter. */
  public void won(IdempotencyKey key) {
    queues.endTurn(key);
  }

  @Override
  public void close() {
    queues.close().forEach(this::resumeWithWhatItMet);
    probes.shutdown();
    watch.close();
  }

  /** Watches a key that another process owns, as long as a call waits for it. */
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
    for (List<Waiter> all = queues.nextProbe(key); !all.isEmpty(); all = queues.nextProbe(key)) {
      all.stream()
          .collect(groupingBy(waiter -> waiter.procedure))
          .forEach((procedure, its) -> probe(key, procedure, its));
    }
  }

  private void probe(IdempotencyKey key, Procedure procedure, List<Waiter> waiters) {
    try {
      long begun = System.nanoTime();
      Optional<ClaimResult> found = find.apply(key, procedure);
      Duration took = Duration.ofNanos(System.nanoTime() - begun);
      if (found.isPresent()) {
        hand(key, found.get(), took, waiters);
      } else {
        free(key, waiters, Waiting::free);
      }
    } catch (StoreException outage) {
      wakeLater(key);
    } catch (Throwable unexpected) {
      wakeLater(key);
      log.error("probe", unexpected, "could not read the record for waiting calls; trying again");
    }
  }

  private void hand(IdempotencyKey key, ClaimResult result, Duration took, List<Waiter> waiters) {
    Consumer<Waiting> found = waiting -> waiting.found(result, took);
    if (result instanceof ClaimResult.InFlight running && running.isAbandoned()) {
      free(key, waiters, found);
    } else if (result instanceof ClaimResult.InFlight running && !running.outcomeUnknown()) {
      watchUnlessOwn(key);
    } else {
      resumeAll(key, waiters, found);
    }
  }

  private void resumeAll(IdempotencyKey key, List<Waiter> waiters, Consumer<Waiting> how) {
    for (Waiter waiter : queues.removeAll(key, waiters)) {
      takenOut(waiter);
      resume(waiter, how);
    }
  }

  /**
   * Handles a key that no call owns any more: the first waiter that may run has its turn.
   *
   * @param read resumes the waiters that only read the outcome
   */
  private void free(IdempotencyKey key, List<Waiter> waiters, Consumer<Waiting> read) {
    Map<Boolean, List<Waiter>> byWhetherItMayRun =
        waiters.stream().collect(partitioningBy(waiter -> waiter.mayRun));
    resumeAll(key, byWhetherItMayRun.getOrDefault(false, List.of()), read);
    queues
        .giveTurn(key, byWhetherItMayRun.getOrDefault(true, List.of()))
        .ifPresent(
            head -> {
              takenOut(head);
              if (!resume(head, Waiting::free)) {
                head.endTurn();
              }
            });
  }

  /** Never throws: its callers have other calls to resume, or a claim to end. */
  private void wakeLater(IdempotencyKey key) {
    try {
      ScheduledFuture<?> unused =
          timer.schedule(() -> wake(key), AFTER_OUTAGE.toMillis(), TimeUnit.MILLISECONDS);
    } catch (Throwable noThread) {
      log.error("timer", noThread, "calls that wait for a key may wait until their limits");
    }
  }

  private void timeOut(Waiter waiter) {
    if (leave(waiter)) {
      over(waiter);
    }
  }

  /**
   * Removes a waiter. Returns whether it was still waiting; if so, the caller of this method
   * resumes it.
   */
  private boolean leave(Waiter waiter) {
    boolean waited = queues.remove(waiter.key, waiter);
    if (waited) {
      takenOut(waiter);
    }
    return waited;
  }

  private void resumeWithWhatItMet(Waiter waiter) {
    takenOut(waiter);
    over(waiter);
  }

  private void over(Waiter waiter) {
    resume(waiter, waiting -> waiting.over(waiter.met));
  }

  private void takenOut(Waiter waiter) {
    room.leave(waiter.key, waiter.bytes);
    waiter.timeout.ifPresent(timeout -> timeout.cancel(false));
  }

  /**
   * Resumes a waiter, and returns whether it threw nothing. An exception does not affect other
   * waiters.
   */
  private boolean resume(Waiter waiter, Consumer<Waiting> how) {
    try {
      how.accept(waiter.waiting);
      return true;
    } catch (Throwable thrown) {
      log.error("resume", thrown, "could not resume a waiting call");
      return false;
    }
  }
}
