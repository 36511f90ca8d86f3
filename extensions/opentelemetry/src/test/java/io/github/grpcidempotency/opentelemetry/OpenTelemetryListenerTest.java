package io.github.grpcidempotency.opentelemetry;

import static io.opentelemetry.sdk.testing.assertj.OpenTelemetryAssertions.assertThat;
import static java.util.stream.Collectors.toSet;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.event.CallScope;
import io.github.grpcidempotency.event.Entry;
import io.github.grpcidempotency.event.IdempotencyEvent;
import io.github.grpcidempotency.event.RefusalReason;
import io.github.grpcidempotency.event.Settlement;
import io.github.grpcidempotency.event.UnprotectedCause;
import io.github.grpcidempotency.event.WaitEvent;
import io.github.grpcidempotency.internal.event.CallInfo;
import io.github.grpcidempotency.internal.event.Events;
import io.github.grpcidempotency.internal.event.ProcedureInfo;
import io.github.grpcidempotency.key.KeyProblem;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.KeyPolicy;
import io.github.grpcidempotency.spi.FailurePhase;
import io.github.grpcidempotency.store.FailureCause;
import io.github.grpcidempotency.store.StoreException;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.ContextKey;
import io.opentelemetry.sdk.testing.junit5.OpenTelemetryExtension;
import io.opentelemetry.sdk.trace.data.EventData;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.data.StatusData;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class OpenTelemetryListenerTest {
  @RegisterExtension static final OpenTelemetryExtension traces = OpenTelemetryExtension.create();

  private static final String SECRET = "what nobody may read";
  private static final UUID OPERATION = UUID.randomUUID();
  private static final CallInfo CALL =
      new CallInfo(
          new ProcedureInfo(
              "things.Things/CreateThing", Entry.CALL, KeyPolicy.REQUIRED, Execution.RESERVED),
          Optional.of(SECRET),
          Optional.of(SECRET),
          Optional.of("east"));
  private static final Duration SOME_TIME = Duration.ofMillis(1_500);

  private final OpenTelemetryListener listener =
      OpenTelemetryListener.of(traces.getOpenTelemetry());

  @Test
  void aClaimSetsAttributesAndAddsAnEvent() {
    SpanData span = spanOf(Events.claimed(CALL, OPERATION, 2, Optional.empty(), SOME_TIME));

    assertThat(span)
        .hasAttribute(TraceNames.PROCEDURE, "things.Things/CreateThing")
        .hasAttribute(TraceNames.ENTRY, "call")
        .hasAttribute(TraceNames.POLICY, "required")
        .hasAttribute(TraceNames.EXECUTION, "reserved")
        .hasAttribute(TraceNames.SHARD, "east")
        .hasAttribute(TraceNames.DECISION, "claimed")
        .hasAttribute(TraceNames.OPERATION, OPERATION.toString())
        .hasAttribute(TraceNames.ATTEMPT, 2L);
    EventData event = only(span.getEvents());
    assertThat(event.getName()).isEqualTo(TraceNames.CLAIMED);
    assertThat(event.getAttributes())
        .isEqualTo(
            Attributes.builder()
                .put(TraceNames.PROCEDURE, "things.Things/CreateThing")
                .put(TraceNames.OPERATION, OPERATION.toString())
                .put(TraceNames.ATTEMPT, 2L)
                .put(TraceNames.CLAIM_DURATION, 1.5)
                .build());
  }

  @Test
  void aStoreWithoutShardsNamesNone() {
    CallInfo call = new CallInfo(CALL.procedure(), CALL.tenant(), CALL.project(), Optional.empty());

    SpanData span = spanOf(Events.claimed(call, OPERATION, 1, Optional.empty(), SOME_TIME));

    assertThat(span.getAttributes().get(TraceNames.SHARD)).isNull();
  }

  @Test
  void aReplayWithoutAKnownTraceHasNoLink() {
    for (Optional<ByteString> unknown :
        List.of(Optional.<ByteString>empty(), Optional.of(ByteString.copyFromUtf8("unknown")))) {
      SpanData span = spanOf(replayed(unknown));

      assertThat(span).hasAttribute(TraceNames.DECISION, "replayed");
      assertThat(span.getLinks()).isEmpty();
      traces.clearSpans();
    }
  }

  @Test
  void aRefusalIsReportedAndDoesNotChangeTheSpansStatus() {
    SpanData span =
        spanOf(
            Events.refused(
                CALL, RefusalReason.KEY_REUSED, Optional.of("request"), Optional.of(OPERATION)));

    assertThat(span)
        .hasStatus(StatusData.unset())
        .hasAttribute(TraceNames.DECISION, "refused")
        .hasAttribute(TraceNames.REFUSAL_REASON, "IDEMPOTENCY_KEY_REUSED")
        .hasAttribute(TraceNames.REFUSAL_DETAIL, "request")
        .hasAttribute(TraceNames.OPERATION, OPERATION.toString());
    assertThat(only(span.getEvents()).getName()).isEqualTo(TraceNames.REFUSED);
  }

  @Test
  void aWaitIsReportedWhenItBeginsAndWhenItEnds() {
    SpanData span =
        spanOf(Events.attached(CALL), Events.waitEnded(CALL, SOME_TIME, WaitEvent.End.GAVE_UP));

    assertThat(span.getEvents())
        .extracting(EventData::getName)
        .containsExactly(TraceNames.ATTACHED, TraceNames.WAIT_ENDED);
    assertThat(span.getEvents().get(1).getAttributes().get(TraceNames.WAIT_END))
        .isEqualTo("gave_up");
    assertThat(span.getEvents().get(1).getAttributes().get(TraceNames.WAIT_DURATION))
        .isEqualTo(1.5);
  }

  @Test
  void theSpanOfAnUnprotectedCallHasTheCause() {
    SpanData span = spanOf(Events.unprotected(CALL, UnprotectedCause.FAILED_OPEN));

    assertThat(span)
        .hasAttribute(TraceNames.DECISION, "unprotected")
        .hasAttribute(TraceNames.UNPROTECTED_CAUSE, "failed_open");
    assertThat(only(span.getEvents()).getName()).isEqualTo(TraceNames.UNPROTECTED);
  }

  @Test
  void theSpanOfACallWithoutAKeyHasTheDecisionNoKey() {
    assertThat(spanOf(Events.keyMissing(CALL, false))).hasAttribute(TraceNames.DECISION, "no_key");
  }

  @Test
  void aSettlementReportsTheDurationOfHandlerAndSettlement() {
    SpanData span =
        spanOf(
            Events.settled(CALL, OPERATION, Settlement.COMPLETE, SOME_TIME, Duration.ofMillis(2)));

    assertThat(span).hasAttribute(TraceNames.SETTLEMENT, "complete");
    Attributes event = only(span.getEvents()).getAttributes();
    assertThat(event.get(TraceNames.HANDLER_DURATION)).isEqualTo(1.5);
    assertThat(event.get(TraceNames.SETTLEMENT_DURATION)).isEqualTo(0.002);
  }

  @Test
  void anAnswerThatIsRecordedLateIsAChildSpanOfTheEndedCall() {
    Span call = traces.getOpenTelemetry().getTracer("test").spanBuilder("call").startSpan();
    CallScope scope = captured(call);
    call.end();

    scope.run(() -> listener.onEvent(Events.recordedLate(CALL, OPERATION, SOME_TIME)));

    SpanData late = named(TraceNames.RECORD_LATE);
    assertThat(late)
        .hasTraceId(call.getSpanContext().getTraceId())
        .hasParentSpanId(call.getSpanContext().getSpanId())
        .hasStatus(StatusData.unset())
        .hasAttribute(TraceNames.OPERATION, OPERATION.toString());
    assertThat(Duration.ofNanos(late.getEndEpochNanos() - late.getStartEpochNanos()))
        .isCloseTo(SOME_TIME, Duration.ofSeconds(1));
  }

  @Test
  void anAnswerThatIsGivenUpIsAnError() {
    SpanData call = spanOf(Events.recordingAbandoned(CALL, OPERATION, failure()));

    assertThat(call).hasStatus(StatusData.unset());
    SpanData abandoned = named(TraceNames.RECORDING_ABANDONED);
    assertThat(abandoned).hasAttribute(TraceNames.FAILURE_CAUSE, "connection_lost");
    assertThat(abandoned.getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
  }

  @Test
  void aContextWithoutASpanHasNoTraceAndIsStillKept() {
    Context baggage = Context.root().with(ContextKey.named("a"), "b");
    CompletableFuture<Context> seen = new CompletableFuture<>();
    CallScope captured = baggage.wrapSupplier(listener::capture).get();

    captured.run(() -> seen.complete(Context.current()));

    assertThat(seen.join()).isSameAs(baggage);
    assertThat(captured.trace()).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("everything")
  void withoutASpanNothingIsWritten(IdempotencyEvent event) {
    listener.onEvent(event);
    OpenTelemetryListener.of(OpenTelemetry.noop()).onEvent(event);

    assertThat(traces.getSpans()).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("everything")
  void aSpanThatIsNotRecordedGetsNothing(IdempotencyEvent event) {
    SpanContext unsampled =
        SpanContext.create(
            "4bf92f3577b34da6a3ce929d0e0e4736",
            "00f067aa0ba902b7",
            TraceFlags.getDefault(),
            TraceState.getDefault());

    Context.root().with(Span.wrap(unsampled)).wrap(() -> listener.onEvent(event)).run();

    assertThat(traces.getSpans()).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("everything")
  void noEventContainsATenantOrAMessage(IdempotencyEvent event) {
    spanOf(event);

    assertThat(traces.getSpans().toString()).doesNotContain(SECRET);
  }

  @Test
  void everyNameIsListedAndWritten() {
    Set<String> written =
        everything()
            .flatMap(
                event -> {
                  spanOf(event);
                  Set<String> names =
                      traces.getSpans().stream()
                          .flatMap(OpenTelemetryListenerTest::namesIn)
                          .filter(name -> !name.equals("call"))
                          .collect(toSet());
                  traces.clearSpans();
                  return names.stream();
                })
            .collect(toSet());

    assertThat(written).isEqualTo(TraceNamesTest.names().collect(toSet()));
  }

  private static Stream<IdempotencyEvent> everything() {
    return Stream.of(
        Events.keyFound(CALL, "idempotency-key"),
        Events.keyMissing(CALL, false),
        Events.keyMissing(CALL, true),
        Events.keyInvalid(CALL, "idempotency-key", KeyProblem.TOO_LONG),
        Events.extractionFailed(CALL, "webhook", KeyProblem.DEFECT),
        Events.claimed(CALL, OPERATION, 1, Optional.empty(), SOME_TIME),
        replayed(TraceBytes.of(aSpanElsewhere())),
        Events.attached(CALL),
        Events.waitEnded(CALL, SOME_TIME, WaitEvent.End.ANSWERED),
        Events.refused(
            CALL, RefusalReason.KEY_REUSED, Optional.of("request"), Optional.of(OPERATION)),
        Events.settled(CALL, OPERATION, Settlement.RELEASE, SOME_TIME, SOME_TIME),
        Events.settlementFailed(CALL, OPERATION, Settlement.COMPLETE, Optional.of(failure())),
        Events.unprotected(CALL, UnprotectedCause.NO_CALLER),
        Events.leaseLost(CALL, OPERATION),
        Events.recordingDeferred(CALL, OPERATION, failure()),
        Events.recordedLate(CALL, OPERATION, SOME_TIME),
        Events.recordingAbandoned(CALL, OPERATION, failure()),
        Events.statusUnknown(CALL, OPERATION),
        Events.retentionFailed(CALL, OPERATION, failure()));
  }

  private static Stream<String> namesIn(SpanData span) {
    return Stream.of(
            Stream.of(span.getName()),
            keys(span.getAttributes()),
            span.getEvents().stream().map(EventData::getName),
            span.getEvents().stream().flatMap(event -> keys(event.getAttributes())),
            span.getLinks().stream().flatMap(link -> keys(link.getAttributes())))
        .flatMap(names -> names);
  }

  private static Stream<String> keys(Attributes attributes) {
    return attributes.asMap().keySet().stream().map(AttributeKey::getKey);
  }

  private static StoreException failure() {
    return StoreException.of(FailurePhase.HANDLER_DONE, FailureCause.CONNECTION_LOST, SECRET)
        .initCause(new IllegalStateException(SECRET));
  }

  private static IdempotencyEvent replayed(Optional<ByteString> trace) {
    return Events.replayed(CALL, OPERATION, false, SOME_TIME, trace);
  }

  private static SpanContext aSpanElsewhere() {
    return SpanContext.createFromRemoteParent(
        "4bf92f3577b34da6a3ce929d0e0e4736",
        "00f067aa0ba902b7",
        TraceFlags.getSampled(),
        TraceState.getDefault());
  }

  /** Returns the span of a call to which these events have happened. */
  private SpanData spanOf(IdempotencyEvent... events) {
    Span call = traces.getOpenTelemetry().getTracer("test").spanBuilder("call").startSpan();
    CallScope scope = captured(call);
    for (IdempotencyEvent event : events) {
      scope.run(() -> listener.onEvent(event));
    }
    call.end();
    return named("call");
  }

  private CallScope captured(Span call) {
    return Context.root().with(call).wrapSupplier(listener::capture).get();
  }

  private static SpanData named(String name) {
    return only(traces.getSpans().stream().filter(span -> span.getName().equals(name)).toList());
  }

  private static <T> T only(List<T> list) {
    assertThat(list).hasSize(1);
    return list.get(0);
  }
}
