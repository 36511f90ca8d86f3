package io.github.grpcidempotency.opentelemetry;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.api.trace.Span;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.function.UnaryOperator;

/** The current span, of a call of a procedure. */
record CallSpan(Span span, String procedure) {
  private static final double NANOS = 1e9;

  /** Sets an attribute of the span. */
  <T> CallSpan set(AttributeKey<T> name, T value) {
    span.setAttribute(name, value);
    return this;
  }

  /** Sets the decision on the call. */
  CallSpan decide(String decision) {
    return set(TraceNames.DECISION, decision);
  }

  /** Adds an event without an operation. */
  void add(String event, UnaryOperator<AttributesBuilder> attributes) {
    add(event, Optional.empty(), attributes);
  }

  /** Adds an event of an operation, without further attributes. */
  void add(String event, UUID operation) {
    add(event, Optional.of(operation), UnaryOperator.identity());
  }

  /** Adds an event. */
  void add(String event, Optional<UUID> operation, UnaryOperator<AttributesBuilder> attributes) {
    AttributesBuilder builder = Attributes.builder().put(TraceNames.PROCEDURE, procedure);
    operation.ifPresent(id -> builder.put(TraceNames.OPERATION, id.toString()));
    span.addEvent(event, attributes.apply(builder).build());
  }

  static double seconds(Duration duration) {
    return duration.toNanos() / NANOS;
  }
}
