package io.github.grpcidempotency.redis;

import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.Claim.Settled;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.IdempotencyStore;
import io.github.grpcidempotency.spi.RecordedOutcome;
import io.github.grpcidempotency.store.StoreException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Callers that repeat their calls until they are answered, on two stores, while somebody breaks
 * Redis. What they have seen is then held against what Redis has kept.
 */
final class Workload implements AutoCloseable {
  private static final int CALLERS = 8;

  private final List<IdempotencyStore> stores;
  private final ExecutorService callers = Executors.newFixedThreadPool(CALLERS);
  private final List<Future<?>> running = new ArrayList<>();
  private final Map<String, RecordedOutcome> answered = new ConcurrentHashMap<>();
  private final Map<String, AtomicInteger> handlers = new ConcurrentHashMap<>();
  private final ConcurrentLinkedQueue<String> stuck = new ConcurrentLinkedQueue<>();
  private final AtomicInteger atOnce = new AtomicInteger();
  private final AtomicInteger again = new AtomicInteger();
  private final AtomicLong longestPauseNanos = new AtomicLong();
  private final AtomicLong lastAnswer = new AtomicLong(System.nanoTime());
  private volatile boolean stopped;

  Workload(IdempotencyStore... stores) {
    this.stores = List.of(stores);
    for (int caller = 0; caller < CALLERS; caller++) {
      running.add(callers.submit(this::call));
    }
  }

  /**
   * What was found.
   *
   * @param answered how many calls were answered
   * @param lost how many of them Redis no longer has the answer of: a retry would run again
   * @param changed how many of them Redis has another answer of
   * @param again how often a handler ran for a call that was answered before
   * @param atOnce how often a handler ran while another one ran for the same call
   * @param stuck how many calls had no answer in the end
   * @param longestPauseMillis how long nobody was answered at most
   */
  record Found(
      int answered,
      int lost,
      int changed,
      int again,
      int atOnce,
      int stuck,
      long longestPauseMillis) {
    /** Returns whether one answer per call was kept, and nothing ran twice. */
    boolean isSound() {
      return lost == 0 && changed == 0 && again == 0 && atOnce == 0 && stuck == 0;
    }
  }

  int answeredSoFar() {
    return answered.size();
  }

  /** Ends the calls, and looks for every answer that a caller has got. */
  Found end(IdempotencyStore store) throws Exception {
    stopped = true;
    for (Future<?> caller : running) {
      caller.get(1, TimeUnit.MINUTES);
    }
    int lost = 0;
    int changed = 0;
    for (Map.Entry<String, RecordedOutcome> call : answered.entrySet()) {
      Optional<RecordedOutcome> kept = kept(store, Calls.request(call.getKey()));
      lost += kept.isEmpty() ? 1 : 0;
      changed += kept.filter(outcome -> !outcome.equals(call.getValue())).isPresent() ? 1 : 0;
    }
    return new Found(
        answered.size(),
        lost,
        changed,
        again.get(),
        atOnce.get(),
        stuck.size(),
        TimeUnit.NANOSECONDS.toMillis(longestPauseNanos.get()));
  }

  private static Optional<RecordedOutcome> kept(IdempotencyStore store, ClaimRequest request) {
    while (true) {
      try {
        return Calls.recorded(store, request);
      } catch (StoreException out) {
        pause();
      }
    }
  }

  @Override
  public void close() {
    stopped = true;
    callers.shutdownNow();
  }

  /** Calls, and now and then repeats a call that was answered. */
  private void call() {
    String caller = Long.toString(ThreadLocalRandom.current().nextLong());
    for (int number = 0; !stopped; number++) {
      String key = caller + "." + number;
      untilAnswered(key);
      // A replica that comes back has to be given everything, so there must not be too much.
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(4));
      if (number > 3) {
        untilAnswered(caller + "." + ThreadLocalRandom.current().nextInt(number));
      }
    }
  }

  private void untilAnswered(String key) {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(40);
    while (System.nanoTime() < end) {
      try {
        if (isAnswered(key, Calls.request(key))) {
          long now = System.nanoTime();
          longestPauseNanos.accumulateAndGet(now - lastAnswer.getAndSet(now), Math::max);
          return;
        }
      } catch (StoreException failed) {
        // Like any client, it tries again.
      }
      pause();
    }
    stuck.add(key);
  }

  private boolean isAnswered(String key, ClaimRequest request) {
    IdempotencyStore store = stores.get(ThreadLocalRandom.current().nextInt(stores.size()));
    ClaimResult result = store.claim(request);
    if (result instanceof ClaimResult.Won won) {
      return run(key, won.claim());
    }
    if (result instanceof ClaimResult.Recorded recorded) {
      answered.putIfAbsent(key, recorded.outcome());
      return true;
    }
    return false;
  }

  private boolean run(String key, Claim claim) {
    AtomicInteger now = handlers.computeIfAbsent(key, first -> new AtomicInteger());
    if (answered.containsKey(key)) {
      again.incrementAndGet();
    }
    if (now.incrementAndGet() > 1) {
      atOnce.incrementAndGet();
    }
    try {
      return record(key, claim, Calls.answer(key + " " + ThreadLocalRandom.current().nextLong()));
    } finally {
      now.decrementAndGet();
    }
  }

  /** Answers once it is known that the answer is recorded, and not before. */
  private boolean record(String key, Claim claim, RecordedOutcome answer) {
    for (int attempt = 0; attempt < 20; attempt++) {
      try {
        if (claim.complete(answer) == Settled.DONE) {
          answered.putIfAbsent(key, answer);
          return true;
        }
        return false;
      } catch (StoreException unknown) {
        pause();
      }
    }
    return false;
  }

  private static void pause() {
    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
  }
}
