package io.github.grpcidempotency.micrometer;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.github.grpcidempotency.event.IdempotencyEvent;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Timer;

/** The counters and timers that exist once in a process. */
final class ProcessMeters {
  private final Timer renewals;
  private final Counter renewalFailures;
  private final Counter renewalsLost;
  private final Timer sweeps;
  private final Counter sweepRecords;
  private final Counter sweepFailures;

  ProcessMeters(Meters meters) {
    renewals = meters.timer(MetricName.RENEWALS);
    renewalFailures = meters.counter(MetricName.RENEWAL_FAILURES);
    renewalsLost = meters.counter(MetricName.RENEWALS_LOST);
    sweeps = meters.timer(MetricName.SWEEPS);
    sweepRecords = meters.counter(MetricName.SWEEP_RECORDS);
    sweepFailures = meters.counter(MetricName.SWEEP_FAILURES);
  }

  void count(IdempotencyEvent.LeasesRenewed event) {
    renewals.record(event.took().toNanos(), NANOSECONDS);
    renewalsLost.increment(event.lost());
  }

  void count(IdempotencyEvent.RenewalFailed event) {
    renewalFailures.increment();
  }

  void count(IdempotencyEvent.Swept event) {
    sweeps.record(event.took().toNanos(), NANOSECONDS);
    sweepRecords.increment((double) event.records());
  }

  void count(IdempotencyEvent.SweepFailed event) {
    sweepFailures.increment();
  }
}
