package io.github.grpcidempotency.micrometer;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.github.grpcidempotency.event.ProcessEvent;
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

  void count(ProcessEvent event) {
    switch (event.kind()) {
      case LEASES_RENEWED -> {
        renewals.record(event.took().toNanos(), NANOSECONDS);
        renewalsLost.increment(event.lost());
      }
      case RENEWAL_FAILED -> renewalFailures.increment();
      case SWEPT -> {
        sweeps.record(event.took().toNanos(), NANOSECONDS);
        sweepRecords.increment((double) event.records());
        event.lag().ifPresent(gauges::sweptWithLag);
      }
      case SWEEP_FAILED -> sweepFailures.increment();
      default -> {}
    }
  }
}
