package io.github.grpcidempotency.micrometer;

import static io.github.grpcidempotency.micrometer.MetricTags.value;

import io.github.grpcidempotency.event.CallEvent;
import io.github.grpcidempotency.event.Entry;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.KeyPolicy;
import io.micrometer.core.instrument.Tags;

/**
 * All meters of one shard, or of a store without shards. The meters of a procedure are created
 * once; later look-ups allocate nothing.
 */
final class ShardMeters {
  private final Meters meters;
  private final MetersByConstant<
          Entry,
          MetersByConstant<KeyPolicy, MetersByConstant<Execution, MetersByWord<ProcedureMeters>>>>
      procedures =
          new MetersByConstant<>(
              entry ->
                  new MetersByConstant<>(
                      policy ->
                          new MetersByConstant<>(
                              execution ->
                                  new MetersByWord<>(
                                      Integer.MAX_VALUE,
                                      name -> metersOf(name, entry, policy, execution)))));
  private final ProcessMeters process;
  private final LiveGauges gauges;

  ShardMeters(Meters meters) {
    this.meters = meters;
    this.gauges = LiveGauges.of(meters);
    this.process = new ProcessMeters(meters, gauges);
  }

  ProcedureMeters of(CallEvent event) {
    return procedures
        .of(event.entry())
        .of(event.keyPolicy())
        .of(event.execution())
        .of(event.procedure());
  }

  private ProcedureMeters metersOf(
      String name, Entry entry, KeyPolicy policy, Execution execution) {
    return new ProcedureMeters(
        meters.with(
            Tags.of(
                MetricTags.PROCEDURE, name,
                MetricTags.ENTRY, value(entry),
                MetricTags.POLICY, value(policy),
                MetricTags.EXECUTION, value(execution))));
  }

  ProcessMeters process() {
    return process;
  }

  LiveGauges gauges() {
    return gauges;
  }
}
