package io.github.grpcidempotency.opentelemetry;

import static io.github.grpcidempotency.opentelemetry.CallSpan.seconds;

import io.github.grpcidempotency.event.CallInfo;
import io.github.grpcidempotency.event.CallScope;
import io.github.grpcidempotency.event.IdempotencyEvent;
import io.github.grpcidempotency.event.IdempotencyListener;
import io.github.grpcidempotency.event.ProcedureInfo;
import io.github.grpcidempotency.store.StoreException;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;

/**
 * Adds the library's events to the span that is current when a call arrives. This is the server's
 * span of the call if the instrumentation of gRPC runs before idempotency:
 *
 * <ul>
 *   <li>Attributes contain the result, and events contain the time. {@link TraceNames} lists their
 *       names.
 *   <li>The span of a replay has a link to the span of the run that produced the answer, even if
 *       another server ran it: the store keeps that span's context with the record.
 *   <li>A call that continues on another thread, such as a duplicate that has waited, continues
 *       within its own span.
 *   <li>If an answer is recorded late, or its recording is given up, this is a separate span below
 *       the call's span, which has already ended.
 * </ul>
 *
 * <p>The listener does not set the status of the call's span; the instrumentation of gRPC does.
 * Nothing is written for a call without a span, or with a span that is not recorded. No attribute
 * contains a key, a request, a response, a tenant or the message of an exception. If one span
 * contains several pieces of work, its attributes are those of the last one; each event contains
 * its own procedure. Thread-safe.
 */
public final class OpenTelemetryListener implements IdempotencyListener {
  private static final String INSTRUMENTATION = "io.github.grpcidempotency";

  private final Tracer tracer;
  private final Map<ProcedureInfo, Attributes> procedures = new ConcurrentHashMap<>();

  private OpenTelemetryListener(Tracer tracer) {
    this.tracer = tracer;
  }

  /**
   * Creates the listener.
   *
   * @param openTelemetry the instance that creates the service's own spans; {@code
   *     GlobalOpenTelemetry.get()} under the Java agent
   */
  public static OpenTelemetryListener of(OpenTelemetry openTelemetry) {
    return new OpenTelemetryListener(openTelemetry.getTracer(INSTRUMENTATION));
  }

  @Override
  public CallScope capture() {
    Context context = Context.current();
    return context == Context.root() ? CallScope.NONE : new CapturedContext(context);
  }

  @Override
  public void keyFound(IdempotencyEvent.KeyFound event) {
    span(event.call()).ifPresent(span -> span.set(TraceNames.KEY_SOURCE, event.source()));
  }

  @Override
  public void keyMissing(IdempotencyEvent.KeyMissing event) {
    span(event.call()).filter(span -> !event.refused()).ifPresent(span -> span.decide("no_key"));
  }

  @Override
  public void keyInvalid(IdempotencyEvent.KeyInvalid event) {
    span(event.call())
        .ifPresent(
            span ->
                span.set(TraceNames.KEY_SOURCE, event.source())
                    .set(TraceNames.KEY_PROBLEM, word(event.problem())));
  }

  @Override
  public void extractionFailed(IdempotencyEvent.ExtractionFailed event) {
    span(event.call())
        .ifPresent(
            span ->
                span.set(TraceNames.KEY_SOURCE, event.source())
                    .set(TraceNames.EXTRACTION_FAILURE, word(event.failure())));
  }

  @Override
  public void claimed(IdempotencyEvent.Claimed event) {
    span(event.call())
        .ifPresent(
            span ->
                span.decide("claimed")
                    .set(TraceNames.OPERATION, event.operationId().toString())
                    .set(TraceNames.ATTEMPT, (long) event.attempt())
                    .add(
                        TraceNames.CLAIMED,
                        Optional.of(event.operationId()),
                        with ->
                            with.put(TraceNames.ATTEMPT, (long) event.attempt())
                                .put(TraceNames.CLAIM_DURATION, seconds(event.took()))));
  }

  @Override
  public void replayed(IdempotencyEvent.Replayed event) {
    span(event.call()).ifPresent(span -> replayed(span, event));
  }

  private static void replayed(CallSpan span, IdempotencyEvent.Replayed event) {
    event
        .trace()
        .flatMap(TraceBytes::read)
        .ifPresent(run -> span.span().addLink(run, Attributes.of(TraceNames.LINK, "answered_by")));
    span.decide("replayed")
        .set(TraceNames.OPERATION, event.operationId().toString())
        .set(TraceNames.REPLAYED_ERROR, event.failure())
        .add(
            TraceNames.REPLAYED,
            Optional.of(event.operationId()),
            with ->
                with.put(TraceNames.REPLAYED_ERROR, event.failure())
                    .put(TraceNames.CLAIM_DURATION, seconds(event.took())));
  }

  @Override
  public void attached(IdempotencyEvent.Attached event) {
    span(event.call()).ifPresent(span -> span.add(TraceNames.ATTACHED, UnaryOperator.identity()));
  }

  @Override
  public void waitEnded(IdempotencyEvent.WaitEnded event) {
    span(event.call())
        .ifPresent(
            span ->
                span.add(
                    TraceNames.WAIT_ENDED,
                    with ->
                        with.put(TraceNames.WAIT_END, word(event.end()))
                            .put(TraceNames.WAIT_DURATION, seconds(event.waited()))));
  }

  @Override
  public void refused(IdempotencyEvent.Refused event) {
    span(event.call()).ifPresent(span -> refused(span, event));
  }

  private static void refused(CallSpan span, IdempotencyEvent.Refused event) {
    String reason = event.reason().name();
    span.decide("refused").set(TraceNames.REFUSAL_REASON, reason);
    event.detail().ifPresent(detail -> span.set(TraceNames.REFUSAL_DETAIL, detail));
    event.operationId().ifPresent(id -> span.set(TraceNames.OPERATION, id.toString()));
    span.add(
        TraceNames.REFUSED,
        event.operationId(),
        with -> {
          event.detail().ifPresent(detail -> with.put(TraceNames.REFUSAL_DETAIL, detail));
          return with.put(TraceNames.REFUSAL_REASON, reason);
        });
  }

  @Override
  public void settled(IdempotencyEvent.ClaimSettled event) {
    span(event.call())
        .ifPresent(
            span ->
                span.set(TraceNames.SETTLEMENT, word(event.settlement()))
                    .add(
                        TraceNames.SETTLED,
                        Optional.of(event.operationId()),
                        with ->
                            with.put(TraceNames.SETTLEMENT, word(event.settlement()))
                                .put(TraceNames.HANDLER_DURATION, seconds(event.handler()))
                                .put(TraceNames.SETTLEMENT_DURATION, seconds(event.took()))));
  }

  @Override
  public void settlementFailed(IdempotencyEvent.SettlementFailed event) {
    span(event.call())
        .ifPresent(
            span ->
                span.add(
                    TraceNames.SETTLEMENT_FAILED,
                    Optional.of(event.operationId()),
                    with -> {
                      event.cause().ifPresent(why -> with.put(TraceNames.FAILURE_CAUSE, word(why)));
                      return with.put(TraceNames.SETTLEMENT, word(event.settlement()));
                    }));
  }

  @Override
  public void unprotected(IdempotencyEvent.Unprotected event) {
    span(event.call())
        .ifPresent(
            span ->
                span.decide("unprotected")
                    .set(TraceNames.UNPROTECTED_CAUSE, word(event.cause()))
                    .add(
                        TraceNames.UNPROTECTED,
                        with -> with.put(TraceNames.UNPROTECTED_CAUSE, word(event.cause()))));
  }

  @Override
  public void leaseLost(IdempotencyEvent.LeaseLost event) {
    add(event.call(), TraceNames.LEASE_LOST, event.operationId());
  }

  @Override
  public void statusUnknown(IdempotencyEvent.StatusUnknown event) {
    add(event.call(), TraceNames.STATUS_UNKNOWN, event.operationId());
  }

  @Override
  public void retentionFailed(IdempotencyEvent.RetentionFailed event) {
    add(event.call(), TraceNames.RETENTION_FAILED, event.operationId());
  }

  @Override
  public void recordingDeferred(IdempotencyEvent.RecordingDeferred event) {
    span(event.call())
        .ifPresent(
            span ->
                span.add(
                    TraceNames.RECORDING_DEFERRED,
                    Optional.of(event.operationId()),
                    with -> with.put(TraceNames.FAILURE_CAUSE, word(event.cause()))));
  }

  @Override
  public void recordedLate(IdempotencyEvent.RecordedLate event) {
    newSpan(TraceNames.RECORD_LATE, event.call(), event.operationId(), event.late())
        .ifPresent(Span::end);
  }

  @Override
  public void recordingAbandoned(IdempotencyEvent.RecordingAbandoned event) {
    newSpan(TraceNames.RECORDING_ABANDONED, event.call(), event.operationId(), Duration.ZERO)
        .ifPresent(
            span ->
                span.setAttribute(TraceNames.FAILURE_CAUSE, word(event.cause()))
                    .setStatus(StatusCode.ERROR)
                    .end());
  }

  /** Returns the current span, with the attributes of its procedure, if the span is recorded. */
  private Optional<CallSpan> span(CallInfo call) {
    Span span = Span.current();
    if (!span.isRecording()) {
      return Optional.empty();
    }
    ProcedureInfo procedure = call.procedure();
    span.setAllAttributes(
        procedures.computeIfAbsent(procedure, OpenTelemetryListener::attributesOf));
    call.shard().ifPresent(shard -> span.setAttribute(TraceNames.SHARD, shard));
    return Optional.of(new CallSpan(span, procedure.name()));
  }

  private void add(CallInfo call, String event, UUID operation) {
    span(call).ifPresent(span -> span.add(event, Optional.of(operation), UnaryOperator.identity()));
  }

  /** Starts a span below the call's span, if the call has one. The new span begins in the past. */
  private Optional<Span> newSpan(String name, CallInfo call, UUID operation, Duration ago) {
    if (!Span.current().getSpanContext().isValid()) {
      return Optional.empty();
    }
    SpanBuilder builder =
        tracer
            .spanBuilder(name)
            .setAttribute(TraceNames.PROCEDURE, call.procedure().name())
            .setAttribute(TraceNames.OPERATION, operation.toString())
            .setStartTimestamp(Instant.now().minus(ago));
    return Optional.of(builder.startSpan());
  }

  private static Attributes attributesOf(ProcedureInfo procedure) {
    return Attributes.builder()
        .put(TraceNames.PROCEDURE, procedure.name())
        .put(TraceNames.ENTRY, word(procedure.entry()))
        .put(TraceNames.POLICY, word(procedure.keyPolicy()))
        .put(TraceNames.EXECUTION, word(procedure.execution()))
        .build();
  }

  private static String word(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }

  /**
   * Returns no message of an exception, because a message may contain a key, as that of a violated
   * unique index does.
   */
  private static String word(StoreException failure) {
    return word(failure.failureCause());
  }
}
