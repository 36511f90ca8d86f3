package io.github.grpcidempotency.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.grpcidempotency.event.LiveCounts;
import io.github.grpcidempotency.spi.BatchCounts;
import io.github.grpcidempotency.spi.ConnectionCounts;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class LiveGaugesTest {
  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final IdempotencyMetrics metrics = IdempotencyMetrics.builder(registry).build();

  /** One interceptor's counts. */
  private record Busy(int leasesHeld, int callsWaiting, int lateAnswers) implements LiveCounts {
    @Override
    public Duration oldestCall() {
      return Duration.ofMillis(leasesHeld * 1_500L);
    }

    @Override
    public BatchCounts batches() {
      return new BatchCounts(leasesHeld, 10L * leasesHeld, Duration.ofSeconds(leasesHeld));
    }

    @Override
    public ConnectionCounts connections() {
      return new ConnectionCounts(leasesHeld, 10 * leasesHeld);
    }
  }

  /** Two interceptors may have the same store, so their connections do not add up. */
  @Test
  void theConnectionsAreThoseOfTheStoreWithTheMost() {
    assertThat(value(MetricName.CONNECTIONS_USED)).isZero();

    metrics.started(new Busy(1, 0, 0));
    metrics.started(new Busy(2, 0, 0));
    metrics.started(new Busy(2, 0, 0));

    assertThat(value(MetricName.CONNECTIONS_USED)).isEqualTo(2);
    assertThat(value(MetricName.CONNECTIONS_WAITING)).isEqualTo(20);
  }

  /** Counts during whose reading a thread runs until it ends or waits for a lock. */
  private record Meanwhile(Thread thread) implements LiveCounts {
    @Override
    public int leasesHeld() {
      if (thread.getState() == Thread.State.NEW) {
        thread.start();
        await()
            .until(
                () ->
                    Set.of(Thread.State.BLOCKED, Thread.State.TERMINATED)
                        .contains(thread.getState()));
      }
      return 1;
    }

    @Override
    public int callsWaiting() {
      return 0;
    }

    @Override
    public Duration oldestCall() {
      return Duration.ZERO;
    }

    @Override
    public int lateAnswers() {
      return 0;
    }
  }

  @Test
  void aGaugeHasAValueAlthoughAnInterceptorStartsWhileItIsRead() throws Exception {
    Thread starting = new Thread(() -> metrics.started(new Busy(1, 0, 0)));
    metrics.started(new Meanwhile(starting));

    assertThat(value(MetricName.LEASES_HELD)).isEqualTo(1);

    starting.join();
    assertThat(value(MetricName.LEASES_HELD)).isEqualTo(2);
  }

  @Test
  void theCountsOfSeveralInterceptorsAddUp() {
    metrics.started(new Busy(1, 20, 300));
    metrics.started(new Busy(1, 20, 300));
    metrics.started(new Busy(2, 2, 2));

    assertThat(value(MetricName.LEASES_HELD)).isEqualTo(4);
    assertThat(value(MetricName.CALLS_WAITING)).isEqualTo(42);
    assertThat(value(MetricName.RECORDINGS_WAITING)).isEqualTo(602);
  }

  @Test
  void theOldestCallIsThatOfAllInterceptors() {
    assertThat(value(MetricName.CALLS_OLDEST)).isZero();

    metrics.started(new Busy(1, 0, 0));
    metrics.started(new Busy(2, 0, 0));

    assertThat(value(MetricName.CALLS_OLDEST)).isEqualTo(3);
  }

  @Test
  void anInterceptorThatIsClosedCountsNoMore() {
    Busy closed = new Busy(1, 1, 1);
    metrics.started(closed);
    metrics.started(new Busy(1, 1, 1));

    metrics.stopped(closed);

    assertThat(value(MetricName.LEASES_HELD)).isEqualTo(1);
  }

  @Test
  void theBatchesOfAllInterceptorsAddUpAndAreKeptWhenOneIsClosed() {
    Busy first = new Busy(1, 0, 0);
    metrics.started(first);
    metrics.started(new Busy(2, 0, 0));
    metrics.stopped(first);

    assertThat(registry.get(MetricName.BATCHES.meter()).functionCounter().count()).isEqualTo(3);
    FunctionTimer calls = registry.get(MetricName.BATCH_CALLS.meter()).functionTimer();
    assertThat(calls.count()).isEqualTo(30);
    assertThat(calls.totalTime(TimeUnit.SECONDS)).isEqualTo(3);
  }

  @Test
  void anInterceptorThatIsClosedIsNotKeptAlive() {
    WeakReference<LiveCounts> closed = startedAndStopped();

    await()
        .untilAsserted(
            () -> {
              System.gc();
              assertThat(closed.get()).isNull();
            });
  }

  private WeakReference<LiveCounts> startedAndStopped() {
    LiveCounts counts = new Busy(1, 1, 1);
    metrics.started(counts);
    metrics.stopped(counts);
    return new WeakReference<>(counts);
  }

  @Test
  void theGaugesOutliveAListenerThatIsNoLongerReferenced() {
    SimpleMeterRegistry other = new SimpleMeterRegistry();
    IdempotencyMetrics.builder(other).build().started(new Busy(5, 0, 0));

    System.gc();

    assertThat(other.get(MetricName.LEASES_HELD.meter()).gauge().value()).isEqualTo(5);
  }

  @Test
  void theSweepLagIsUnknownBeforeTheFirstSweep() {
    assertThat(value(MetricName.SWEEP_LAG)).isNaN();
  }

  private double value(MetricName gauge) {
    return registry.get(gauge.meter()).gauge().value();
  }
}
