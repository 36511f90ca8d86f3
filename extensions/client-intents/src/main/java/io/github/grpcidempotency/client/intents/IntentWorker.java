package io.github.grpcidempotency.client.intents;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.github.grpcidempotency.background.DaemonThreads;
import io.github.grpcidempotency.background.RateLimitedLog;
import io.github.grpcidempotency.background.RepeatedTask;
import io.github.grpcidempotency.client.Backoff;
import io.github.grpcidempotency.client.intents.IntentRoute.Limits;
import io.github.grpcidempotency.proto.Experimental;
import io.grpc.MethodDescriptor;
import io.grpc.stub.AbstractStub;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Processes the intents of a store. It sends each intent until its outcome is known, and passes the
 * answer to a callback at least once, despite crashes of this process, of the server, and of their
 * databases.
 *
 * <pre>{@code
 * IntentWorker worker =
 *     IntentWorker.builder(intents)
 *         .method("orders", orderStub, OrderServiceGrpc.getCreateOrderMethod(), callback)
 *         .build()
 *         .start();
 * }</pre>
 *
 * <p>Any number of workers, in any number of processes, may share an {@link IntentStore}: a lease
 * prevents two workers from processing one intent at the same time. The lease is renewed while a
 * worker processes the intent. Each attempt sends the same key. If the server sends a time for the
 * next attempt, the worker uses it; otherwise the waits double, from a second to five minutes. The
 * attempts end when the service has answered, when the server prohibits a retry, or when the intent
 * is as old as {@link Builder#giveUpAfter}, even if the server was never reached. Every tenth
 * failed attempt of an intent is logged as a warning.
 *
 * <p>A worker takes only intents of the targets and methods that are registered with it.
 *
 * <p>Thread-safe.
 */
@Experimental
public final class IntentWorker implements AutoCloseable {
  private static final Duration POLL = Duration.ofSeconds(1);
  private static final Duration DRAIN_POLL = Duration.ofMillis(100);
  private static final Backoff OUTAGE = new Backoff(POLL, Duration.ofSeconds(30));
  private static final Logger logger = LoggerFactory.getLogger(IntentWorker.class);

  private final RateLimitedLog log = RateLimitedLog.of(logger);
  private final IntentStore store;
  private final Map<Route, IntentRoute<?, ?>> routes;
  private final Limits limits;
  private final int concurrency;
  private final Set<StoredIntent> inWork = ConcurrentHashMap.newKeySet();
  private final ExecutorService threads;
  private final ScheduledExecutorService renewals = DaemonThreads.newTimer("idempotency-leases");
  private final Semaphore woken = new Semaphore(0);
  private volatile boolean closed;

  @GuardedBy("this")
  private boolean started;

  private IntentWorker(Builder builder) {
    this.store = builder.store;
    this.routes = Map.copyOf(builder.routes);
    this.limits = new Limits(builder.lease, builder.attemptTimeout, builder.giveUpAfter);
    this.concurrency = builder.concurrency;
    this.threads = builder.threads.get();
    Duration third = builder.lease.dividedBy(3);
    RepeatedTask.of("renew the leases of intents", log, this::renew).every(renewals, third, third);
  }

  /** Returns a builder. */
  public static Builder builder(IntentStore store) {
    return new Builder(store);
  }

  /** Starts to process intents in the background, until {@link #close}. */
  public synchronized IntentWorker start() {
    if (!started && !closed) {
      DaemonThreads.named("idempotency-intents").newThread(this::poll).start();
      started = true;
    }
    return this;
  }

  /**
   * Makes the worker look for intents now; otherwise a new intent may wait up to a second. Call it
   * after the commit of a new intent. A call before the commit has no effect on that intent.
   */
  public void wake() {
    woken.release();
  }

  /**
   * Processes intents until none is left for this worker's methods, including those that other
   * workers have taken, or the time is over. For command-line tools.
   *
   * @return whether no intent is left for this worker's methods
   * @throws InterruptedException if the thread is interrupted; intents that were taken are still
   *     processed
   * @throws IllegalStateException if the store cannot be read or written
   */
  public boolean drain(Duration within) throws InterruptedException {
    long end = System.nanoTime() + within.toNanos();
    while (store.hasAny(routes.keySet())) {
      if (System.nanoTime() >= end || closed) {
        return false;
      }
      if (takeDue() == 0) {
        awaitWake(Duration.ofNanos(Math.min(DRAIN_POLL.toNanos(), end - System.nanoTime())));
      }
    }
    return true;
  }

  /**
   * Stops taking intents, and waits for the running ones for the time of one attempt. Then it
   * interrupts them, and another worker takes them again. The store and the channels stay open.
   */
  @Override
  public void close() {
    closed = true;
    wake();
    threads.shutdown();
    try {
      if (!threads.awaitTermination(limits.attemptTimeout().toMillis(), TimeUnit.MILLISECONDS)) {
        threads.shutdownNow();
      }
    } catch (InterruptedException interrupt) {
      threads.shutdownNow();
      Thread.currentThread().interrupt();
    } finally {
      renewals.shutdownNow();
    }
  }

  private void poll() {
    AtomicInteger taken = new AtomicInteger();
    RepeatedTask take = RepeatedTask.of("take intents", log, () -> taken.set(takeDue()));
    int failures = 0;
    while (!closed) {
      failures = take.succeeds() ? 0 : failures + 1;
      if (failures > 0 || taken.get() == 0) {
        try {
          awaitWake(failures == 0 ? POLL : OUTAGE.delay(failures));
        } catch (InterruptedException unexpected) {
          // Only close() ends this thread.
        }
      }
    }
  }

  private void awaitWake(Duration atMost) throws InterruptedException {
    if (woken.tryAcquire(atMost.toNanos(), TimeUnit.NANOSECONDS)) {
      woken.drainPermits();
    }
  }

  /** Takes as many intents of each target as may begin now, and returns how many. */
  private synchronized int takeDue() {
    Map<String, Integer> shares = shares();
    if (shares.isEmpty()) {
      return 0;
    }
    List<StoredIntent> taken = store.take(routes.keySet(), shares, limits.lease());
    taken.forEach(this::begin);
    return taken.size();
  }

  /** Returns how many more intents of each target may begin, without the targets without any. */
  private Map<String, Integer> shares() {
    Map<String, Integer> shares = new HashMap<>();
    routes.keySet().forEach(route -> shares.put(route.target(), concurrency));
    inWork.forEach(intent -> shares.merge(intent.route().target(), -1, Integer::sum));
    shares.values().removeIf(share -> share <= 0);
    return shares;
  }

  /** Starts to process an intent, or gives it back. */
  private void begin(StoredIntent intent) {
    inWork.add(intent);
    try {
      threads.execute(() -> advance(intent));
    } catch (Throwable noThread) {
      if (!closed) {
        log.error("thread", noThread, "no thread could be started for an intent; trying again");
      }
      end(intent, Optional.of(closed ? Duration.ZERO : POLL), !intent.sentBefore());
    }
  }

  private void advance(StoredIntent intent) {
    Optional<Duration> again = Optional.of(IntentRoute.BACKOFF.delay(intent.attempts()));
    try {
      Optional.ofNullable(routes.get(intent.route())).orElseThrow().advance(intent, store, limits);
      again = Optional.empty();
    } catch (Throwable failure) {
      if (closed && failure instanceof InterruptedException) {
        again = Optional.of(Duration.ZERO);
      } else {
        logger.warn(
            "{}: an intent could not be processed, or its callback threw; trying again in {}",
            intent.route().method(),
            again.orElseThrow(),
            failure);
      }
    } finally {
      end(intent, again, false);
    }
  }

  /**
   * Ends the work on an intent.
   *
   * @param again when a worker shall take it again; empty if the intent has been settled
   */
  private void end(StoredIntent intent, Optional<Duration> again, boolean neverSent) {
    try {
      again.ifPresent(delay -> store.postpone(intent, delay, neverSent));
    } catch (Throwable outage) {
      log.warn("give back", outage, "an intent is taken again after its lease has ended");
    } finally {
      boolean mayWait = !shares().containsKey(intent.route().target());
      inWork.remove(intent);
      if (mayWait) {
        wake();
      }
    }
  }

  private void renew() {
    if (!inWork.isEmpty()) {
      store.renew(List.copyOf(inWork), limits.lease());
    }
  }

  /** The settings of a worker. */
  public static final class Builder {
    private final IntentStore store;
    private final Map<Route, IntentRoute<?, ?>> routes = new HashMap<>();
    private Duration lease = Duration.ofMinutes(1);
    private Duration attemptTimeout = Duration.ofSeconds(30);
    private Duration giveUpAfter = Duration.ofHours(20);
    private int concurrency = 8;
    private Supplier<ExecutorService> threads =
        () -> Executors.newCachedThreadPool(DaemonThreads.named("idempotency-intent"));

    private Builder(IntentStore store) {
      this.store = store;
    }

    /**
     * Adds a method whose intents the worker processes.
     *
     * @param target the name of the server, as in {@link IntentStore#write}
     * @param stub a stub of any kind; its channel and its call options are used, except the
     *     deadline
     * @throws IllegalArgumentException if the method was added before
     */
    public <RequestT, T> Builder method(
        String target,
        AbstractStub<?> stub,
        MethodDescriptor<RequestT, T> method,
        IntentCallback<T> callback) {
      IntentRoute<?, ?> before =
          routes.putIfAbsent(Route.of(target, method), new IntentRoute<>(method, stub, callback));
      if (before != null) {
        throw new IllegalArgumentException(method.getFullMethodName() + " was added twice");
      }
      return this;
    }

    /**
     * Sets how long after the crash of a worker's process another worker takes its intents; one
     * minute by default, and at least a second.
     */
    public Builder lease(Duration lease) {
      if (lease.compareTo(Duration.ofSeconds(1)) < 0) {
        throw new IllegalArgumentException("a lease must be at least a second, not " + lease);
      }
      this.lease = lease;
      return this;
    }

    /** Sets the deadline of one attempt; 30 seconds by default. */
    public Builder attemptTimeout(Duration timeout) {
      this.attemptTimeout = positive(timeout);
      return this;
    }

    /**
     * Sets how long the worker makes attempts, counted from the writing of the intent; 20 hours by
     * default, for a retention of 24 hours. Choose less than the server's retention: after the
     * record of the key has expired, the server would run the call as a new call. Later attempts
     * are never made, even after crashes and outages. The only exception is a machine that is
     * suspended during the sending of a call.
     *
     * <p>After this time {@link IntentCallback#failed} is called, with the outcome {@code
     * NEVER_EXECUTED} if no attempt has left its process, and {@code UNKNOWN} otherwise. After
     * {@code NEVER_EXECUTED}, it can write a new intent for the same request, to continue the
     * attempts.
     */
    public Builder giveUpAfter(Duration horizon) {
      this.giveUpAfter = positive(horizon);
      return this;
    }

    /**
     * Sets how many intents of a target are processed at once, each on its own thread; 8 by
     * default. A target that does not answer delays only its own intents.
     */
    public Builder concurrency(int intents) {
      if (intents < 1) {
        throw new IllegalArgumentException("the concurrency must be at least 1");
      }
      this.concurrency = intents;
      return this;
    }

    /** Sets the threads of the attempts. For tests. */
    Builder threads(ExecutorService threads) {
      this.threads = () -> threads;
      return this;
    }

    /**
     * Returns the worker, which is not started yet.
     *
     * @throws IllegalStateException if no method was added
     */
    public IntentWorker build() {
      if (routes.isEmpty()) {
        throw new IllegalStateException("the worker has no method: call method(…)");
      }
      return new IntentWorker(this);
    }

    private static Duration positive(Duration duration) {
      if (duration.isNegative() || duration.isZero()) {
        throw new IllegalArgumentException("a duration must be positive, not " + duration);
      }
      return duration;
    }
  }
}
