package io.github.grpcidempotency.micrometer;

import io.github.grpcidempotency.event.CallEvent;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * All meters of one shard, or of a store without shards. The meters of a procedure are created
 * once.
 */
final class ShardMeters {
  private final Meters meters;
  private final Map<MeteredProcedure, ProcedureMeters> procedures = new ConcurrentHashMap<>();
  private final ProcessMeters process;
  private final LiveGauges gauges;

  ShardMeters(Meters meters) {
    this.meters = meters;
    this.gauges = LiveGauges.of(meters);
    this.process = new ProcessMeters(meters, gauges);
  }

  ProcedureMeters of(CallEvent event) {
    MeteredProcedure procedure = MeteredProcedure.of(event);
    ProcedureMeters known = procedures.get(procedure);
    return known != null
        ? known
        : procedures.computeIfAbsent(procedure, added -> new ProcedureMeters(meters, added));
  }

  ProcessMeters process() {
    return process;
  }

  LiveGauges gauges() {
    return gauges;
  }
}
