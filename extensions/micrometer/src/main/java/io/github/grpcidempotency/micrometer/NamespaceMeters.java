package io.github.grpcidempotency.micrometer;

import io.github.grpcidempotency.event.CallInfo;
import io.github.grpcidempotency.event.ProcedureInfo;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The meters of one procedure, for each tenant, or for each pair of tenant and project, that has
 * its own.
 */
final class NamespaceMeters {
  private final Meters meters;
  private final ProcedureInfo procedure;
  private final Namespaces namespaces;
  private final Map<String, Map<String, ProcedureMeters>> tenants = new ConcurrentHashMap<>();

  NamespaceMeters(Meters meters, ProcedureInfo procedure, Namespaces namespaces) {
    this.meters = meters;
    this.procedure = procedure;
    this.namespaces = namespaces;
  }

  ProcedureMeters of(CallInfo call) {
    String tenant = namespaces.tenant(call);
    String project = namespaces.project(call);
    return namespaces.admits(tenant, project)
        ? of(tenant, project)
        : of(MetricTags.OTHER, MetricTags.OTHER);
  }

  private ProcedureMeters of(String tenant, String project) {
    Map<String, ProcedureMeters> projects = tenants.get(tenant);
    ProcedureMeters known = projects == null ? null : projects.get(project);
    return known != null ? known : make(tenant, project);
  }

  private ProcedureMeters make(String tenant, String project) {
    return tenants
        .computeIfAbsent(tenant, t -> new ConcurrentHashMap<>())
        .computeIfAbsent(
            project,
            p -> new ProcedureMeters(meters.with(namespaces.tags(tenant, project)), procedure));
  }
}
