package io.github.grpcidempotency.benchmarks.scenario;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.HdrHistogram.ConcurrentHistogram;

/**
 * Callers that each begin the next operation when the last one has ended, so the number of running
 * operations is constant. A failed operation fails the measurement.
 */
public final class ClosedLoop implements AutoCloseable {
  private static final int DIGITS = 3;

  private final Operation operation;
  private final CountDownLatch running;
  private final AtomicLong left;
  private final AtomicReference<Reply> failure = new AtomicReference<>();
  private final ConcurrentHistogram latencies = new ConcurrentHistogram(DIGITS);
  private final long began = System.nanoTime();
  private volatile boolean stopped;

  private ClosedLoop(Operation operation, int callers, long times) {
    this.operation = operation;
    this.left = new AtomicLong(times);
    this.running = new CountDownLatch(callers);
    for (int i = 0; i < callers; i++) {
      beginNext();
    }
  }

  /** Runs an operation a number of times, and returns the measurements of the callers. Blocks. */
  public static Load run(Operation operation, int callers, long times) {
    ClosedLoop loop = new ClosedLoop(operation, callers, times);
    loop.await();
    return loop.seen();
  }

  /** Runs callers for some time, and returns their measurements. Blocks. */
  public static Load run(Operation operation, int callers, Duration time) {
    try (ClosedLoop loop = new ClosedLoop(operation, callers, Long.MAX_VALUE)) {
      sleep(time);
      return loop.seen();
    }
  }

  private Load seen() {
    ConcurrentHistogram seen = latencies.copy();
    double seconds = (System.nanoTime() - began) / 1e9;
    Reply failed = failure.get();
    if (failed != null) {
      throw new IllegalStateException("a call failed: " + failed.status());
    }
    return new Load(
        seen.getTotalCount() / seconds, millis(seen, 50), millis(seen, 99), seen.getTotalCount());
  }

  /** Lets the callers finish their operations. Blocks. */
  @Override
  public void close() {
    stopped = true;
    await();
  }

  private void await() {
    try {
      running.await();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void beginNext() {
    if (left.getAndDecrement() <= 0) {
      running.countDown();
      return;
    }
    long start = System.nanoTime();
    operation.begin(
        reply -> {
          if (!reply.isOk()) {
            failure.compareAndSet(null, reply);
            running.countDown();
            return;
          }
          latencies.recordValue(System.nanoTime() - start);
          if (stopped) {
            running.countDown();
          } else {
            beginNext();
          }
        });
  }

  private static double millis(ConcurrentHistogram seen, double percentile) {
    return seen.getValueAtPercentile(percentile) / 1e6;
  }

  private static void sleep(Duration time) {
    try {
      Thread.sleep(time.toMillis());
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("stopped while measuring", interrupted);
    }
  }
}
