package io.github.grpcidempotency.opentelemetry;

import io.github.grpcidempotency.event.CallEvent;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.api.trace.Span;
import java.time.Duration;
import java.util.function.UnaryOperator;

/** The span of a call in which an event of the call has happened. */
record CallSpan(Span span, CallEvent event) {
  private static final double NANOS = 1e9;

  <T> CallSpan set(AttributeKey<T> name, T value) {
    span.setAttribute(name, value);
    return this;
  }

  /** Sets the decision on the call, and its operation if there is one. */
  CallSpan decide(String decision) {
    event.operationId().ifPresent(id -> set(TraceNames.OPERATION, id.toString()));
    return set(TraceNames.DECISION, decision);
  }

  /** Adds an event without further attributes. */
  void add(String name) {
    add(name, UnaryOperator.identity());
  }

  /** Adds an event, with the procedure and the operation. */
  void add(String name, UnaryOperator<AttributesBuilder> attributes) {
    AttributesBuilder builder = Attributes.builder().put(TraceNames.PROCEDURE, event.procedure());
    event.operationId().ifPresent(id -> builder.put(TraceNames.OPERATION, id.toString()));
    span.addEvent(name, attributes.apply(builder).build());
  }

  static double seconds(Duration duration) {
    return duration.toNanos() / NANOS;
  }
}
