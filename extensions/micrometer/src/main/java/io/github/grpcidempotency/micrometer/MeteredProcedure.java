package io.github.grpcidempotency.micrometer;

import static io.github.grpcidempotency.micrometer.MetricTags.value;

import io.github.grpcidempotency.event.CallEvent;
import io.github.grpcidempotency.event.Entry;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.KeyPolicy;
import io.micrometer.core.instrument.Tags;

/** The properties that all events of one procedure share, and that are tags of its meters. */
record MeteredProcedure(String name, Entry entry, KeyPolicy keyPolicy, Execution execution) {
  static MeteredProcedure of(CallEvent event) {
    return new MeteredProcedure(
        event.procedure(), event.entry(), event.keyPolicy(), event.execution());
  }

  Tags tags() {
    return Tags.of(
        MetricTags.PROCEDURE, name,
        MetricTags.ENTRY, value(entry),
        MetricTags.POLICY, value(keyPolicy),
        MetricTags.EXECUTION, value(execution));
  }
}
