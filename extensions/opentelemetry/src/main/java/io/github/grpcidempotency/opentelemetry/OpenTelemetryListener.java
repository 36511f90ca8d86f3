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
  public void onEvent(IdempotencyEvent event) {
    if (event instanceof IdempotencyEvent.RecordedLate recorded) {
      newSpan(TraceNames.RECORD_LATE, recorded.call(), recorded.operationId(), recorded.late())
          .ifPresent(Span::end);
    } else if (event instanceof IdempotencyEvent.RecordingAbandoned abandoned) {
      newSpan(
              TraceNames.RECORDING_ABANDONED,
              abandoned.call(),
              abandoned.operationId(),
              Duration.ZERO)
          .ifPresent(
              span ->
                  span.setAttribute(TraceNames.FAILURE_CAUSE, word(abandoned.cause()))
                      .setStatus(StatusCode.ERROR)
                      .end());
    } else if (event instanceof IdempotencyEvent.OfCall ofCall) {
      span(ofCall.call()).ifPresent(span -> write(ofCall, span));
    }
  }

  private static void write(IdempotencyEvent.OfCall event, CallSpan span) {
    if (event instanceof IdempotencyEvent.KeyFound found) {
      span.set(TraceNames.KEY_SOURCE, found.source());
    } else if (event instanceof IdempotencyEvent.KeyMissing missing) {
      if (!missing.refused()) {
        span.decide("no_key");
      }
    } else if (event instanceof IdempotencyEvent.KeyInvalid invalid) {
      span.set(TraceNames.KEY_SOURCE, invalid.source())
          .set(TraceNames.KEY_PROBLEM, word(invalid.problem()));
    } else if (event instanceof IdempotencyEvent.ExtractionFailed failed) {
      span.set(TraceNames.KEY_SOURCE, failed.source())
          .set(TraceNames.EXTRACTION_FAILURE, word(failed.failure()));
    } else if (event instanceof IdempotencyEvent.Claimed claimed) {
      claimed(span, claimed);
    } else if (event instanceof IdempotencyEvent.Replayed replayed) {
      replayed(span, replayed);
    } else if (event instanceof IdempotencyEvent.Attached) {
      span.add(TraceNames.ATTACHED, UnaryOperator.identity());
    } else if (event instanceof IdempotencyEvent.WaitEnded ended) {
      span.add(
          TraceNames.WAIT_ENDED,
          with ->
              with.put(TraceNames.WAIT_END, word(ended.end()))
                  .put(TraceNames.WAIT_DURATION, seconds(ended.waited())));
    } else if (event instanceof IdempotencyEvent.Refused refused) {
      refused(span, refused);
    } else if (event instanceof IdempotencyEvent.ClaimSettled settled) {
      settled(span, settled);
    } else if (event instanceof IdempotencyEvent.SettlementFailed failed) {
      settlementFailed(span, failed);
    } else if (event instanceof IdempotencyEvent.Unprotected ran) {
      String cause = word(ran.cause());
      span.decide("unprotected")
          .set(TraceNames.UNPROTECTED_CAUSE, cause)
          .add(TraceNames.UNPROTECTED, with -> with.put(TraceNames.UNPROTECTED_CAUSE, cause));
    } else if (event instanceof IdempotencyEvent.LeaseLost lost) {
      span.add(TraceNames.LEASE_LOST, lost.operationId());
    } else if (event instanceof IdempotencyEvent.StatusUnknown unknown) {
      span.add(TraceNames.STATUS_UNKNOWN, unknown.operationId());
    } else if (event instanceof IdempotencyEvent.RetentionFailed failed) {
      span.add(TraceNames.RETENTION_FAILED, failed.operationId());
    } else if (event instanceof IdempotencyEvent.RecordingDeferred deferred) {
      span.add(
          TraceNames.RECORDING_DEFERRED,
          Optional.of(deferred.operationId()),
          with -> with.put(TraceNames.FAILURE_CAUSE, word(deferred.cause())));
    }
  }

  private static void claimed(CallSpan span, IdempotencyEvent.Claimed event) {
    span.decide("claimed")
        .set(TraceNames.OPERATION, event.operationId().toString())
        .set(TraceNames.ATTEMPT, (long) event.attempt())
        .add(
            TraceNames.CLAIMED,
            Optional.of(event.operationId()),
            with ->
                with.put(TraceNames.ATTEMPT, (long) event.attempt())
                    .put(TraceNames.CLAIM_DURATION, seconds(event.took())));
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

  private static void settled(CallSpan span, IdempotencyEvent.ClaimSettled event) {
    String settlement = word(event.settlement());
    span.set(TraceNames.SETTLEMENT, settlement)
        .add(
            TraceNames.SETTLED,
            Optional.of(event.operationId()),
            with ->
                with.put(TraceNames.SETTLEMENT, settlement)
                    .put(TraceNames.HANDLER_DURATION, seconds(event.handler()))
                    .put(TraceNames.SETTLEMENT_DURATION, seconds(event.took())));
  }

  private static void settlementFailed(CallSpan span, IdempotencyEvent.SettlementFailed event) {
    span.add(
        TraceNames.SETTLEMENT_FAILED,
        Optional.of(event.operationId()),
        with -> {
          event.cause().ifPresent(why -> with.put(TraceNames.FAILURE_CAUSE, word(why)));
          return with.put(TraceNames.SETTLEMENT, word(event.settlement()));
        });
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
