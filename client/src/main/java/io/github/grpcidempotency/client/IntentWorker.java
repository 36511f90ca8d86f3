package io.github.grpcidempotency.client;

import io.github.grpcidempotency.client.IntentRoute.Limits;
import io.grpc.ClientInterceptors;
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
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries out the intents of a store. It sends each one until its outcome is known, and hands the
 * answer to a callback at least once, despite crashes of this process, of the server, and of either
 * database.
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
 * keeps two workers from working on one intent at once, and is renewed while one works on it. Each
 * attempt sends the same key. If the server says when to try again, the worker does so; otherwise
 * the waits double, from a second to five minutes. The attempts end when the service has answered,
 * when the server says that no attempt will help, or when the intent is as old as {@link
 * Builder#giveUpAfter}, even if the server was never reached. Every tenth attempt of an intent is a
 * warning in the log.
 *
 * <p>Intents of targets and methods that are not named here are left to other workers. If no worker
 * takes such intents, because a target or method was renamed, the worker logs a warning: when it
 * starts, every ten minutes after that, and in {@link #drain}. See {@link #unassigned}.
 *
 * <p>Thread-safe.
 */
public final class IntentWorker implements AutoCloseable {
  private static final Logger logger = LoggerFactory.getLogger(IntentWorker.class);
  private static final Duration POLL = Duration.ofSeconds(1);
  private static final Duration DRAIN_POLL = Duration.ofMillis(100);
  private static final Backoff OUTAGE = new Backoff(POLL, Duration.ofSeconds(30));
  private static final Duration LOOK_AROUND = Duration.ofMinutes(10);

  private final IntentStore store;
  private final Map<Route, IntentRoute<?, ?>> routes;
  private final Limits limits;
  private final Semaphore free;
  private final Set<StoredIntent> inWork = ConcurrentHashMap.newKeySet();
  private final ExecutorService threads;
  private final ScheduledExecutorService clock;
  private final Semaphore woken = new Semaphore(0);
  private Optional<ScheduledFuture<?>> polling = Optional.empty();
  private volatile boolean closed;
  private int outages;

  private IntentWorker(Builder builder) {
    this.store = builder.store;
    this.routes = Map.copyOf(builder.routes());
    this.limits = new Limits(builder.lease, builder.attemptTimeout, builder.giveUpAfter);
    this.free = new Semaphore(builder.concurrency);
    this.threads = Executors.newFixedThreadPool(builder.concurrency, daemons("intent"));
    this.clock = Executors.newScheduledThreadPool(2, daemons("intents"));
    long third = builder.lease.toMillis() / 3;
    ScheduledFuture<?> unused =
        clock.scheduleWithFixedDelay(this::renew, third, third, TimeUnit.MILLISECONDS);
  }

  /** Begins a worker on a store. */
  public static Builder builder(IntentStore store) {
    return new Builder(store);
  }

  /** Starts to work in the background, until {@link #close}. */
  public synchronized IntentWorker start() {
    if (polling.isEmpty() && !closed) {
      polling = Optional.of(clock.schedule(this::poll, 0, TimeUnit.MILLISECONDS));
      ScheduledFuture<?> unused =
          clock.scheduleWithFixedDelay(
              this::lookAround, 0, LOOK_AROUND.toMillis(), TimeUnit.MILLISECONDS);
    }
    return this;
  }

  /**
   * Makes the worker look for intents now; otherwise a new intent may wait up to a second. Call it
   * after the commit that has written an intent. Calling it too early does no harm.
   */
  public void wake() {
    woken.release();
  }

  /**
   * Works until no intent is left for this worker's methods, whoever works on it, or the time is
   * up. For command-line tools. Logs a warning for intents of other targets and methods.
   *
   * @return whether no intent is left for this worker's methods
   * @throws InterruptedException if the thread is interrupted; work that has begun goes on
   * @throws IllegalStateException if the store cannot be read or written
   */
  public boolean drain(Duration within) throws InterruptedException {
    long end = System.nanoTime() + within.toNanos();
    warnOf(unassigned());
    while (store.hasAny(routes.keySet())) {
      if (System.nanoTime() >= end || closed) {
        return false;
      }
      if (takeDue() == 0) {
        TimeUnit.NANOSECONDS.sleep(Math.min(DRAIN_POLL.toNanos(), end - System.nanoTime()));
      }
    }
    return true;
  }

  /**
   * Returns the intents in the store that are due, and whose target and method are not named to
   * this worker. Unless another worker sends these intents, restore the former target or method in
   * their rows, or delete the rows.
   *
   * @throws IllegalStateException if the store cannot be read
   */
  public List<UnassignedIntents> unassigned() {
    return store.others(routes.keySet(), Duration.ZERO);
  }

  /**
   * Takes no more intents, and lets those in work go on for the time of one attempt. Then it
   * interrupts them, and the next worker takes them again. The store and the channels stay open.
   */
  @Override
  public void close() {
    closed = true;
    wake();
    threads.shutdown();
    try {
      if (!threads.awaitTermination(limits.attemptTimeout().toMillis(), TimeUnit.MILLISECONDS)) {
        List<Runnable> unused = threads.shutdownNow();
      }
    } catch (InterruptedException interrupt) {
      List<Runnable> unused = threads.shutdownNow();
      Thread.currentThread().interrupt();
    }
    List<Runnable> unused = clock.shutdownNow();
  }

  private void poll() {
    try {
      while (!closed) {
        if (takeDueOrWarn() == 0) {
          Duration pause = outages == 0 ? POLL : OUTAGE.delay(outages);
          if (woken.tryAcquire(pause.toMillis(), TimeUnit.MILLISECONDS)) {
            woken.drainPermits();
          }
        }
      }
    } catch (InterruptedException closing) {
      Thread.currentThread().interrupt();
    }
  }

  /** An intent that another worker sends does not stay due for as long as a lease. */
  private void lookAround() {
    try {
      warnOf(store.others(routes.keySet(), limits.lease()));
    } catch (RuntimeException outage) {
      logger.debug("could not read the intents of other workers", outage);
    }
  }

  private static void warnOf(List<UnassignedIntents> unassigned) {
    unassigned.forEach(
        left ->
            logger.warn(
                "{} intents for {} at \"{}\", the oldest written {} ago, are not sent: their"
                    + " target and method are not registered with this worker. If the target or"
                    + " method was renamed,"
                    + " register its old name with a worker again, or update the rows.",
                left.intents(),
                left.method(),
                left.target(),
                left.oldest()));
  }

  private int takeDueOrWarn() throws InterruptedException {
    try {
      int taken = takeDue();
      outages = 0;
      return taken;
    } catch (RuntimeException outage) {
      outages++;
      logger.warn("could not read intents; trying again: {}", outage.getMessage(), outage);
      return 0;
    }
  }

  /** Takes as many intents as there are free threads, and returns how many. */
  private int takeDue() throws InterruptedException {
    if (!free.tryAcquire(DRAIN_POLL.toMillis(), TimeUnit.MILLISECONDS)) {
      return 0;
    }
    int most = 1 + free.drainPermits();
    List<StoredIntent> taken = List.of();
    try {
      taken = store.take(routes.keySet(), most, limits.lease());
    } finally {
      free.release(most - taken.size());
    }
    taken.forEach(this::begin);
    return taken.size();
  }

  private void begin(StoredIntent intent) {
    inWork.add(intent);
    try {
      threads.execute(() -> advance(intent));
    } catch (RejectedExecutionException closing) {
      inWork.remove(intent);
      free.release();
      store.postpone(intent, Duration.ZERO, !intent.sentBefore());
    }
  }

  private void advance(StoredIntent intent) {
    try {
      Optional.ofNullable(routes.get(intent.route())).orElseThrow().advance(intent, store, limits);
    } catch (InterruptedException closing) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException failure) {
      logger.warn(
          "{}: an intent could not be processed; a worker takes it again after its lease has ended",
          intent.route().method(),
          failure);
    } finally {
      inWork.remove(intent);
      free.release();
    }
  }

  private void renew() {
    try {
      if (!inWork.isEmpty()) {
        store.renew(List.copyOf(inWork), limits.lease());
      }
    } catch (RuntimeException outage) {
      logger.warn("could not renew the leases of intents; trying again: {}", outage.getMessage());
    }
  }

  private static ThreadFactory daemons(String name) {
    return task -> {
      Thread thread = new Thread(task, "idempotency-" + name);
      thread.setDaemon(true);
      return thread;
    };
  }

  /** Settings of a worker. */
  public static final class Builder {
    private final IntentStore store;
    private final Map<Route, Registration<?, ?>> registrations = new HashMap<>();
    private Duration lease = Duration.ofMinutes(1);
    private Duration attemptTimeout = Duration.ofSeconds(30);
    private Duration giveUpAfter = Duration.ofHours(20);
    private int concurrency = 8;
    private IdempotencyClientInterceptor keys = IdempotencyClientInterceptor.create();

    private Builder(IntentStore store) {
      this.store = store;
    }

    /**
     * Adds a method whose intents the worker carries out.
     *
     * @param target the name of the server under which its intents are written
     * @param stub of any kind: its channel and call options are used, but no deadline
     * @throws IllegalArgumentException if the method is not unary, prohibits keys, or was named
     *     before
     */
    public <RequestT, T> Builder method(
        String target,
        AbstractStub<?> stub,
        MethodDescriptor<RequestT, T> method,
        IntentCallback<T> callback) {
      Registration<?, ?> before =
          registrations.putIfAbsent(
              IntentStore.route(target, method), new Registration<>(method, stub, callback));
      if (before != null) {
        throw new IllegalArgumentException(method.getFullMethodName() + " was added twice");
      }
      return this;
    }

    /**
     * Sets how long after the death of a worker's process another worker takes its intents; a
     * minute by default. At least a second.
     */
    public Builder lease(Duration lease) {
      if (lease.compareTo(Duration.ofSeconds(1)) < 0) {
        throw new IllegalArgumentException("a lease must be at least a second, not " + lease);
      }
      this.lease = lease;
      return this;
    }

    /**
     * Sets the time for one attempt, after which its answer counts as lost; 30 seconds by default.
     */
    public Builder attemptTimeout(Duration timeout) {
      this.attemptTimeout = RetryingCaller.Builder.positive(timeout);
      return this;
    }

    /**
     * Sets how long the worker makes attempts, counted from when the intent was written. After that
     * the server may have forgotten the key, and would run the call as a new one: choose less than
     * the server's retention. 20 hours by default, for a retention of 24. Nothing is sent later,
     * whatever crashed or was out of reach meanwhile, unless the machine is put to sleep at the
     * very moment of sending.
     *
     * <p>Then {@link IntentCallback#failed} hears {@code NEVER_EXECUTED} if no attempt has left its
     * process, and {@code UNKNOWN} otherwise. After {@code NEVER_EXECUTED} it may write a new
     * intent for the same thing, to go on for as long again.
     */
    public Builder giveUpAfter(Duration horizon) {
      this.giveUpAfter = RetryingCaller.Builder.positive(horizon);
      return this;
    }

    /** Sets how many intents are worked on at once, each on a thread; 8 by default. */
    public Builder concurrency(int intents) {
      if (intents < 1) {
        throw new IllegalArgumentException("the concurrency must be at least 1");
      }
      this.concurrency = intents;
      return this;
    }

    /** Sets the header for keys, for a server that does not use the standard name. */
    public Builder keyHeader(String name) {
      this.keys = keys.keyHeader(name);
      return this;
    }

    /** Demands protection; see {@link IdempotencyClientInterceptor#requireProtection}. */
    public Builder requireProtection() {
      this.keys = keys.requireProtection();
      return this;
    }

    /**
     * Sets what is called for every answer that is not protected; see {@link
     * IdempotencyClientInterceptor#onUnprotected}.
     */
    public Builder onUnprotected(Consumer<MethodDescriptor<?, ?>> listener) {
      this.keys = keys.onUnprotected(listener);
      return this;
    }

    /**
     * Returns the worker, which does nothing yet.
     *
     * @throws IllegalStateException if no method is named
     */
    public IntentWorker build() {
      if (registrations.isEmpty()) {
        throw new IllegalStateException("the worker has no method: call method(…)");
      }
      return new IntentWorker(this);
    }

    private Map<Route, IntentRoute<?, ?>> routes() {
      Map<Route, IntentRoute<?, ?>> routes = new HashMap<>();
      registrations.forEach((route, named) -> routes.put(route, named.toRoute(keys)));
      return routes;
    }

    private record Registration<RequestT, T>(
        MethodDescriptor<RequestT, T> method, AbstractStub<?> stub, IntentCallback<T> callback) {
      IntentRoute<RequestT, T> toRoute(IdempotencyClientInterceptor keys) {
        return new IntentRoute<>(
            method,
            ClientInterceptors.intercept(stub.getChannel(), keys),
            stub.getCallOptions(),
            callback);
      }
    }
  }
}
