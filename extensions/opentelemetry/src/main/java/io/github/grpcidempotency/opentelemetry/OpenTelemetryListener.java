package io.github.grpcidempotency.opentelemetry;

import static io.github.grpcidempotency.opentelemetry.CallSpan.seconds;

import io.github.grpcidempotency.event.CallEvent;
import io.github.grpcidempotency.event.CallScope;
import io.github.grpcidempotency.event.ClaimEvent;
import io.github.grpcidempotency.event.Entry;
import io.github.grpcidempotency.event.IdempotencyEvent;
import io.github.grpcidempotency.event.IdempotencyEvent.Kind;
import io.github.grpcidempotency.event.IdempotencyListener;
import io.github.grpcidempotency.event.KeyEvent;
import io.github.grpcidempotency.event.RefusalEvent;
import io.github.grpcidempotency.event.ReplayEvent;
import io.github.grpcidempotency.event.SettlementEvent;
import io.github.grpcidempotency.event.UnprotectedEvent;
import io.github.grpcidempotency.event.WaitEvent;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.KeyPolicy;
import io.github.grpcidempotency.store.StoreException;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import java.time.Instant;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

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
  private final Map<Described, Attributes> procedures = new ConcurrentHashMap<>();

  /** The properties that all events of one procedure share. */
  private record Described(
      String procedure, Entry entry, KeyPolicy keyPolicy, Execution execution) {
    static Described by(CallEvent event) {
      return new Described(event.procedure(), event.entry(), event.keyPolicy(), event.execution());
    }
  }

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
    if (event instanceof CallEvent ofCall) {
      switch (event.kind()) {
        case RECORDED_LATE -> newSpan(TraceNames.RECORD_LATE, ofCall).ifPresent(Span::end);
        case RECORDING_ABANDONED ->
            newSpan(TraceNames.RECORDING_ABANDONED, ofCall)
                .ifPresent(
                    span -> {
                      cause(ofCall)
                          .ifPresent(word -> span.setAttribute(TraceNames.FAILURE_CAUSE, word));
                      span.setStatus(StatusCode.ERROR).end();
                    });
        default -> span(ofCall).ifPresent(span -> write(ofCall, span));
      }
    }
  }

  private static void write(CallEvent event, CallSpan span) {
    if (event instanceof KeyEvent key) {
      span.set(TraceNames.KEY_SOURCE, key.source());
      key.problem().ifPresent(problem -> span.set(attributeOf(key.kind()), word(problem)));
    } else if (event instanceof ClaimEvent claimed) {
      claimed(span, claimed);
    } else if (event instanceof ReplayEvent replayed) {
      replayed(span, replayed);
    } else if (event instanceof WaitEvent ended) {
      span.add(
          TraceNames.WAIT_ENDED,
          with ->
              with.put(TraceNames.WAIT_END, word(ended.end()))
                  .put(TraceNames.WAIT_DURATION, seconds(ended.took())));
    } else if (event instanceof RefusalEvent refused) {
      refused(span, refused);
    } else if (event instanceof SettlementEvent settlement) {
      settlement(span, settlement);
    } else if (event instanceof UnprotectedEvent ran) {
      String cause = word(ran.cause());
      span.decide("unprotected")
          .set(TraceNames.UNPROTECTED_CAUSE, cause)
          .add(TraceNames.UNPROTECTED, with -> with.put(TraceNames.UNPROTECTED_CAUSE, cause));
    } else {
      writeKind(event, span);
    }
  }

  private static AttributeKey<String> attributeOf(Kind kind) {
    return kind == Kind.KEY_INVALID ? TraceNames.KEY_PROBLEM : TraceNames.EXTRACTION_FAILURE;
  }

  private static void writeKind(CallEvent event, CallSpan span) {
    switch (event.kind()) {
      case KEY_MISSING -> span.decide("no_key");
      case ATTACHED -> span.add(TraceNames.ATTACHED);
      case LEASE_LOST -> span.add(TraceNames.LEASE_LOST);
      case STATUS_UNKNOWN -> span.add(TraceNames.STATUS_UNKNOWN);
      case RETENTION_FAILED -> span.add(TraceNames.RETENTION_FAILED);
      case RECORDING_DEFERRED ->
          span.add(TraceNames.RECORDING_DEFERRED, with -> putCause(with, event));
      default -> {}
    }
  }

  private static void claimed(CallSpan span, ClaimEvent event) {
    span.decide("claimed")
        .set(TraceNames.ATTEMPT, (long) event.attempt())
        .add(
            TraceNames.CLAIMED,
            with ->
                with.put(TraceNames.ATTEMPT, (long) event.attempt())
                    .put(TraceNames.CLAIM_DURATION, seconds(event.took())));
  }

  private static void replayed(CallSpan span, ReplayEvent event) {
    event
        .trace()
        .flatMap(TraceBytes::read)
        .ifPresent(run -> span.span().addLink(run, Attributes.of(TraceNames.LINK, "answered_by")));
    span.decide("replayed")
        .set(TraceNames.REPLAYED_ERROR, event.failure())
        .add(
            TraceNames.REPLAYED,
            with ->
                with.put(TraceNames.REPLAYED_ERROR, event.failure())
                    .put(TraceNames.CLAIM_DURATION, seconds(event.took())));
  }

  private static void refused(CallSpan span, RefusalEvent event) {
    String reason = event.reason().wireName();
    span.decide("refused").set(TraceNames.REFUSAL_REASON, reason);
    event.detail().ifPresent(detail -> span.set(TraceNames.REFUSAL_DETAIL, detail));
    span.add(
        TraceNames.REFUSED,
        with -> {
          event.detail().ifPresent(detail -> with.put(TraceNames.REFUSAL_DETAIL, detail));
          return with.put(TraceNames.REFUSAL_REASON, reason);
        });
  }

  private static void settlement(CallSpan span, SettlementEvent event) {
    String settlement = word(event.settlement());
    if (event.kind() == Kind.SETTLED) {
      span.set(TraceNames.SETTLEMENT, settlement)
          .add(
              TraceNames.SETTLED,
              with ->
                  with.put(TraceNames.SETTLEMENT, settlement)
                      .put(TraceNames.HANDLER_DURATION, seconds(event.handler()))
                      .put(TraceNames.SETTLEMENT_DURATION, seconds(event.took())));
    } else {
      span.add(
          TraceNames.SETTLEMENT_FAILED,
          with -> putCause(with, event).put(TraceNames.SETTLEMENT, settlement));
    }
  }

  /** Returns the current span, with the attributes of its procedure, if the span is recorded. */
  private Optional<CallSpan> span(CallEvent event) {
    Span span = Span.current();
    if (!span.isRecording()) {
      return Optional.empty();
    }
    span.setAllAttributes(
        procedures.computeIfAbsent(Described.by(event), OpenTelemetryListener::attributesOf));
    event.shard().ifPresent(shard -> span.setAttribute(TraceNames.SHARD, shard));
    return Optional.of(new CallSpan(span, event));
  }

  /** Starts a span below the call's span, if the call has one. The new span begins in the past. */
  private Optional<Span> newSpan(String name, CallEvent event) {
    if (!Span.current().getSpanContext().isValid()) {
      return Optional.empty();
    }
    SpanBuilder builder =
        tracer
            .spanBuilder(name)
            .setAttribute(TraceNames.PROCEDURE, event.procedure())
            .setStartTimestamp(Instant.now().minus(event.took()));
    event.operationId().ifPresent(id -> builder.setAttribute(TraceNames.OPERATION, id.toString()));
    return Optional.of(builder.startSpan());
  }

  private static Attributes attributesOf(Described call) {
    return Attributes.builder()
        .put(TraceNames.PROCEDURE, call.procedure())
        .put(TraceNames.ENTRY, word(call.entry()))
        .put(TraceNames.POLICY, word(call.keyPolicy()))
        .put(TraceNames.EXECUTION, word(call.execution()))
        .build();
  }

  private static String word(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }

  private static AttributesBuilder putCause(AttributesBuilder attributes, CallEvent event) {
    cause(event).ifPresent(word -> attributes.put(TraceNames.FAILURE_CAUSE, word));
    return attributes;
  }

  /**
   * Returns no message of an exception, because a message may contain a key, as that of a violated
   * unique index does.
   */
  private static Optional<String> cause(CallEvent event) {
    return event
        .thrown()
        .flatMap(
            thrown ->
                thrown instanceof StoreException failure
                    ? Optional.of(word(failure.failureCause()))
                    : Optional.empty());
  }
}
