package io.github.grpcidempotency.micrometer;

import static io.github.grpcidempotency.micrometer.MetricTags.value;
import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.github.grpcidempotency.event.CallEvent;
import io.github.grpcidempotency.event.ClaimEvent;
import io.github.grpcidempotency.event.IdempotencyEvent.Kind;
import io.github.grpcidempotency.event.KeyEvent;
import io.github.grpcidempotency.event.RefusalEvent;
import io.github.grpcidempotency.event.RefusalReason;
import io.github.grpcidempotency.event.ReplayEvent;
import io.github.grpcidempotency.event.Settlement;
import io.github.grpcidempotency.event.SettlementEvent;
import io.github.grpcidempotency.event.UnprotectedCause;
import io.github.grpcidempotency.event.UnprotectedEvent;
import io.github.grpcidempotency.event.WaitEvent;
import io.github.grpcidempotency.key.KeyProblem;
import io.github.grpcidempotency.store.FailureCause;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;

/**
 * The meters of one procedure. Counters that alerts compare with their own past are registered at
 * the first call, with the value zero: the rate of a counter whose first value is one would be
 * zero.
 */
final class ProcedureMeters {
  private static final int MOST_SOURCES = 20;
  private static final int MOST_DETAILS = 20;

  private final MetersByWord<Counter> keysFound;
  private final Counter keysMissing;
  private final Counter keysMissingRefused;
  private final MetersByConstant<KeyProblem, Counter> keysInvalid;
  private final MetersByWord<MetersByConstant<KeyProblem, Counter>> keyFailures;
  private final Timer claimsWon;
  private final Timer claimsReplayed;
  private final Counter takeovers;
  private final Counter replays;
  private final Counter errorReplays;
  private final Counter statusUnknown;
  private final Counter retentionFailures;
  private final MetersByConstant<RefusalReason, MetersByWord<Counter>> refusals;
  private final MetersByConstant<UnprotectedCause, Counter> unprotected;
  private final MetersByConstant<WaitEvent.End, Timer> waits;
  private final Timer handlers;
  private final MetersByConstant<Settlement, Timer> settlements;
  private final MetersByConstant<Settlement, Counter> settlementFailures;
  private final Counter keysFailing;
  private final Counter leasesLost;
  private final Counter recordingsDeferred;
  private final Timer recordingsLate;
  private final Counter recordingsAbandoned;

  /** Registers meters that all have the tags of the procedure. */
  ProcedureMeters(Meters meters) {
    keysFound =
        new MetersByWord<>(MOST_SOURCES, source -> meters.counter(MetricName.KEYS_FOUND, source));
    keysMissing = meters.counter(MetricName.KEYS_MISSING, "false");
    keysMissingRefused = meters.counter(MetricName.KEYS_MISSING, "true");
    keysInvalid =
        new MetersByConstant<>(problem -> meters.counter(MetricName.KEYS_INVALID, value(problem)));
    keyFailures =
        new MetersByWord<>(
            MOST_SOURCES,
            source ->
                new MetersByConstant<>(
                    failure -> meters.counter(MetricName.KEY_FAILURES, source, value(failure))));
    claimsWon = meters.timer(MetricName.CLAIMS, "won");
    claimsReplayed = meters.timer(MetricName.CLAIMS, "replayed");
    takeovers = meters.counter(MetricName.TAKEOVERS);
    replays = meters.counter(MetricName.REPLAYS, "response");
    errorReplays = meters.counter(MetricName.REPLAYS, "error");
    statusUnknown = meters.counter(MetricName.STATUS_UNKNOWN);
    retentionFailures = meters.counter(MetricName.RETENTION_FAILURES);
    refusals =
        new MetersByConstant<>(
            reason ->
                new MetersByWord<>(
                    MOST_DETAILS,
                    detail -> meters.counter(MetricName.REFUSALS, value(reason), detail)));
    unprotected =
        new MetersByConstant<>(cause -> meters.counter(MetricName.UNPROTECTED, value(cause)));
    waits = new MetersByConstant<>(end -> meters.timer(MetricName.WAITS, value(end)));
    handlers = meters.timer(MetricName.HANDLERS);
    settlements =
        new MetersByConstant<>(
            settlement -> meters.timer(MetricName.SETTLEMENTS, value(settlement)));
    settlementFailures =
        new MetersByConstant<>(
            settlement -> meters.counter(MetricName.SETTLEMENT_FAILURES, value(settlement)));
    keysFailing = meters.counter(MetricName.KEYS_FAILING);
    leasesLost = meters.counter(MetricName.LEASES_LOST);
    recordingsDeferred = meters.counter(MetricName.RECORDINGS_DEFERRED);
    recordingsLate = meters.timer(MetricName.RECORDINGS_LATE);
    recordingsAbandoned = meters.counter(MetricName.RECORDINGS_ABANDONED);
    beginAtZero();
  }

  private void beginAtZero() {
    MetersByWord<Counter> reused = refusals.of(RefusalReason.KEY_REUSED);
    reused.of("request");
    reused.of("procedure");
    refusals.of(RefusalReason.IN_PROGRESS).of(MetricTags.NONE);
    refusals.of(RefusalReason.OUTCOME_UNKNOWN).of(MetricTags.NONE);
    refusals.of(RefusalReason.RECORD_UNREADABLE).of(MetricTags.NONE);
    MetersByWord<Counter> unavailable = refusals.of(RefusalReason.STORE_UNAVAILABLE);
    for (FailureCause cause : FailureCause.values()) {
      unavailable.of(cause.word());
    }
    for (UnprotectedCause cause : UnprotectedCause.values()) {
      unprotected.of(cause);
    }
    for (Settlement settlement : Settlement.values()) {
      settlements.of(settlement);
      settlementFailures.of(settlement);
    }
    waits.of(WaitEvent.End.ANSWERED);
  }

  void count(CallEvent event) {
    if (event instanceof KeyEvent key) {
      count(key);
    } else if (event instanceof ClaimEvent claimed) {
      record(claimsWon, claimed.took());
      if (claimed.attempt() > 1) {
        takeovers.increment();
      }
    } else if (event instanceof ReplayEvent replayed) {
      record(claimsReplayed, replayed.took());
      (replayed.failure() ? errorReplays : replays).increment();
    } else if (event instanceof RefusalEvent refused) {
      refusals.of(refused.reason()).of(refused.detail().orElse(MetricTags.NONE)).increment();
    } else if (event instanceof UnprotectedEvent ran) {
      unprotected.of(ran.cause()).increment();
    } else if (event instanceof WaitEvent waited) {
      record(waits.of(waited.end()), waited.took());
    } else if (event instanceof SettlementEvent settled) {
      count(settled);
    } else {
      countKind(event);
    }
  }

  private void count(KeyEvent event) {
    switch (event.kind()) {
      case KEY_INVALID -> keysInvalid.of(event.problem().orElseThrow()).increment();
      case EXTRACTION_FAILED ->
          keyFailures.of(event.source()).of(event.problem().orElseThrow()).increment();
      default -> keysFound.of(event.source()).increment();
    }
  }

  private void count(SettlementEvent event) {
    if (event.kind() == Kind.SETTLED) {
      record(handlers, event.handler());
      record(settlements.of(event.settlement()), event.took());
    } else {
      settlementFailures.of(event.settlement()).increment();
    }
  }

  private void countKind(CallEvent event) {
    switch (event.kind()) {
      case KEY_MISSING -> keysMissing.increment();
      case KEY_REQUIRED -> keysMissingRefused.increment();
      case STATUS_UNKNOWN -> statusUnknown.increment();
      case RETENTION_FAILED -> retentionFailures.increment();
      case KEY_FAILING -> keysFailing.increment();
      case LEASE_LOST -> leasesLost.increment();
      case RECORDING_DEFERRED -> recordingsDeferred.increment();
      case RECORDED_LATE -> record(recordingsLate, event.took());
      case RECORDING_ABANDONED -> recordingsAbandoned.increment();
      default -> {}
    }
  }

  private static void record(Timer timer, Duration took) {
    timer.record(took.toNanos(), NANOSECONDS);
  }
}
