package io.github.grpcidempotency.micrometer;

import io.github.grpcidempotency.event.CallInfo;
import io.github.grpcidempotency.event.ProcedureInfo;
import io.micrometer.core.instrument.Tags;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The meters of one procedure, for each tenant that has its own. */
final class TenantMeters {
  private final Meters meters;
  private final ProcedureInfo procedure;
  private final Tenants tenants;
  private final Map<String, ProcedureMeters> byTenant = new ConcurrentHashMap<>();

  TenantMeters(Meters meters, ProcedureInfo procedure, Tenants tenants) {
    this.meters = meters;
    this.procedure = procedure;
    this.tenants = tenants;
  }

  ProcedureMeters of(CallInfo call) {
    String tenant = tenants.of(call);
    ProcedureMeters known = byTenant.get(tenant);
    return known != null ? known : byTenant.computeIfAbsent(tenant, this::make);
  }

  private ProcedureMeters make(String tenant) {
    return new ProcedureMeters(meters.with(Tags.of(MetricTags.TENANT, tenant)), procedure);
  }
}
