package io.github.grpcidempotency.micrometer;

import java.util.Optional;

/** All meters of one shard, or of a store without shards. */
record ShardMeters(CallMeters calls, ProcessMeters process, LiveGauges gauges) {
  /**
   * Creates and registers the meters.
   *
   * @param tenants the tenants with meters of their own, if any
   */
  static ShardMeters of(Meters meters, Optional<Tenants> tenants) {
    return new ShardMeters(
        new CallMeters(meters, tenants), new ProcessMeters(meters), LiveGauges.of(meters));
  }
}
