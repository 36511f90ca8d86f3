package io.github.grpcidempotency.micrometer;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.event.Entry;
import io.github.grpcidempotency.event.IdempotencyEvent;
import io.github.grpcidempotency.event.UnprotectedCause;
import io.github.grpcidempotency.internal.event.Events;
import io.github.grpcidempotency.internal.event.ProcedureInfo;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.KeyPolicy;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.search.RequiredSearch;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class CountingTest {
  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final IdempotencyMetrics metrics = IdempotencyMetrics.builder(registry).build();

  private void deliver(IdempotencyEvent... events) {
    Stream.of(events).forEach(metrics::onEvent);
  }

  @Test
  void everyKindOfEventIsCountedWhereItBelongs() {
    SampleEvents.ofEachKind(SampleEvents.call(SampleEvents.CREATE)).forEach(this::deliver);

    assertThat(counted())
        .containsExactlyInAnyOrder(
            "idempotency.keys.found source=idempotency-key: 1",
            "idempotency.keys.missing refused=true: 1",
            "idempotency.keys.invalid reason=too_long: 1",
            "idempotency.key.failures failure=unauthenticated source=stripe: 1",
            "idempotency.claims result=won: 1, 250 ms",
            "idempotency.claims result=replayed: 1, 250 ms",
            "idempotency.takeovers: 1",
            "idempotency.replays outcome=response: 1",
            "idempotency.status.unknown: 1",
            "idempotency.retention.failures: 1",
            "idempotency.refusals detail=request reason=IDEMPOTENCY_KEY_REUSED: 1",
            "idempotency.unprotected cause=failed_open: 1",
            "idempotency.waits end=gave_up: 1, 250 ms",
            "idempotency.handlers: 1, 250 ms",
            "idempotency.settlements settlement=complete: 1, 250 ms",
            "idempotency.settlement.failures settlement=complete: 1",
            "idempotency.keys.failing: 1",
            "idempotency.leases.lost: 1",
            "idempotency.recordings.deferred: 1",
            "idempotency.recordings.late: 1, 250 ms",
            "idempotency.recordings.abandoned: 1",
            "idempotency.renewals: 1, 250 ms",
            "idempotency.renewals.lost: 1",
            "idempotency.renewal.failures: 1",
            "idempotency.sweeps: 1, 250 ms",
            "idempotency.sweep.records: 7",
            "idempotency.sweep.failures: 1",
            "idempotency.sweep.lag: 3600");
  }

  @Test
  void theMetersOfAProcedureHaveItsName() {
    deliver(Events.leaseLost(SampleEvents.call(SampleEvents.CREATE), UUID.randomUUID()));

    assertThat(find(MetricName.LEASES_LOST).counter().getId().getTags())
        .containsExactlyInAnyOrder(
            Tag.of("procedure", "shop.v1.Orders/CreateOrder"),
            Tag.of("entry", "call"),
            Tag.of("policy", "required"),
            Tag.of("execution", "transactional"));
  }

  @Test
  void hitsOfHandlersThatManageKeysThemselvesHaveATagValueOfTheirOwn() {
    ProcedureInfo work =
        new ProcedureInfo(
            "shop.v1.Orders/Import",
            Entry.WORK,
            KeyPolicy.HANDLER_INTERNAL,
            Execution.TRANSACTIONAL);

    deliver(
        Events.replayed(
            SampleEvents.call(work), UUID.randomUUID(), false, Duration.ZERO, Optional.empty()));

    assertThat(
            find(MetricName.REPLAYS).tags("entry", "work", "outcome", "response").counter().count())
        .isEqualTo(1);
  }

  @Test
  void anOrdinaryFirstRunIsNoTakeover() {
    deliver(
        Events.claimed(
            SampleEvents.call(SampleEvents.CREATE),
            UUID.randomUUID(),
            1,
            Optional.empty(),
            Duration.ZERO));

    assertThat(find(MetricName.TAKEOVERS).counter().count()).isZero();
    assertThat(find(MetricName.CLAIMS).tag("result", "won").timer().count()).isEqualTo(1);
  }

  @Test
  void countersOfAlertsExistWithZeroFromTheFirstCallOn() {
    deliver(Events.keyFound(SampleEvents.call(SampleEvents.CREATE), "idempotency-key"));

    for (MetricName name :
        List.of(
            MetricName.REPLAYS,
            MetricName.TAKEOVERS,
            MetricName.LEASES_LOST,
            MetricName.RECORDINGS_DEFERRED,
            MetricName.RECORDINGS_ABANDONED)) {
      assertThat(find(name).counter().count()).as(name.meter()).isZero();
    }
    for (UnprotectedCause cause : UnprotectedCause.values()) {
      assertThat(
              find(MetricName.UNPROTECTED).tag("cause", MetricTags.value(cause)).counter().count())
          .isZero();
    }
    for (String reason :
        List.of(
            "IDEMPOTENCY_KEY_REUSED",
            "IDEMPOTENCY_IN_PROGRESS",
            "IDEMPOTENCY_OUTCOME_UNKNOWN",
            "IDEMPOTENCY_STORE_UNAVAILABLE")) {
      assertThat(find(MetricName.REFUSALS).tag("reason", reason).counters())
          .isNotEmpty()
          .allMatch(counter -> counter.count() == 0);
    }
  }

  private RequiredSearch find(MetricName name) {
    return registry.get(name.meter());
  }

  /** Returns the meters that are not at zero, without the tags that tell the procedure. */
  private List<String> counted() {
    List<String> common = MetricName.LEASES_LOST.tags();
    return registry.getMeters().stream()
        .filter(meter -> !value(meter).equals("0") && !value(meter).equals("0, 0 ms"))
        .map(
            meter ->
                meter.getId().getTags().stream()
                    .filter(tag -> !common.contains(tag.getKey()))
                    .map(tag -> tag.getKey() + "=" + tag.getValue())
                    .collect(
                        Collectors.collectingAndThen(
                            Collectors.joining(" "),
                            tags ->
                                (meter.getId().getName() + " " + tags).strip()
                                    + ": "
                                    + value(meter))))
        .toList();
  }

  private static String value(Meter meter) {
    return meter.match(
        gauge -> number(gauge.value()),
        counter -> number(counter.count()),
        timer -> timer.count() + ", " + number(timer.totalTime(TimeUnit.MILLISECONDS)) + " ms",
        summary -> "",
        task -> "",
        time -> "",
        function -> number(function.count()),
        timer -> number(timer.count()),
        other -> "");
  }

  private static String number(double value) {
    return Long.toString(Math.round(value));
  }
}
