package io.github.grpcidempotency.micrometer;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.github.grpcidempotency.event.IdempotencyEvent;
import io.github.grpcidempotency.event.IdempotencyEvent.Kind;
import io.github.grpcidempotency.event.RenewalEvent;
import io.github.grpcidempotency.event.SweepEvent;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Timer;

/** The counters and timers that exist once in a process. */
final class ProcessMeters {
  private final LiveGauges gauges;
  private final Timer renewals;
  private final Counter renewalFailures;
  private final Counter renewalsLost;
  private final Timer sweeps;
  private final Counter sweepRecords;
  private final Counter sweepFailures;

  ProcessMeters(Meters meters, LiveGauges gauges) {
    this.gauges = gauges;
    renewals = meters.timer(MetricName.RENEWALS);
    renewalFailures = meters.counter(MetricName.RENEWAL_FAILURES);
    renewalsLost = meters.counter(MetricName.RENEWALS_LOST);
    sweeps = meters.timer(MetricName.SWEEPS);
    sweepRecords = meters.counter(MetricName.SWEEP_RECORDS);
    sweepFailures = meters.counter(MetricName.SWEEP_FAILURES);
  }

  void count(IdempotencyEvent event) {
    if (event instanceof RenewalEvent renewed) {
      if (event.kind() == Kind.LEASES_RENEWED) {
        renewals.record(renewed.took().toNanos(), NANOSECONDS);
        renewalsLost.increment(renewed.lost());
      } else {
        renewalFailures.increment();
      }
    } else if (event instanceof SweepEvent swept) {
      if (event.kind() == Kind.SWEPT) {
        sweeps.record(swept.took().toNanos(), NANOSECONDS);
        sweepRecords.increment((double) swept.records());
        swept.lag().ifPresent(gauges::sweptWithLag);
      } else {
        sweepFailures.increment();
      }
    }
  }
}
