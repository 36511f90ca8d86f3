package io.github.grpcidempotency.micrometer;

import io.github.grpcidempotency.event.CallInfo;
import io.micrometer.core.instrument.Tags;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The tenants, or pairs of tenant and project, that have meters of their own: the first ones that
 * call, up to a limit. Thread-safe.
 */
final class Namespaces {
  private final int most;
  private final boolean byProject;
  private final Map<String, Set<String>> admitted = new ConcurrentHashMap<>();
  private int size;
  private volatile boolean full;

  Namespaces(int most, boolean byProject) {
    if (most <= 0) {
      throw new IllegalArgumentException(
          "the number of tenants with meters of their own must be at least 1, not " + most);
    }
    this.most = most;
    this.byProject = byProject;
  }

  String tenant(CallInfo call) {
    return call.tenant().orElse(MetricTags.NONE);
  }

  String project(CallInfo call) {
    return byProject ? call.project().orElse(MetricTags.NONE) : MetricTags.NONE;
  }

  Tags tags(String tenant, String project) {
    Tags tags = Tags.of(MetricTags.TENANT, tenant);
    return byProject ? tags.and(MetricTags.PROJECT, project) : tags;
  }

  /**
   * Returns whether a tenant and project have meters of their own. Once true, the result stays
   * true.
   */
  boolean admits(String tenant, String project) {
    Set<String> projects = admitted.get(tenant);
    return (projects != null && projects.contains(project)) || (!full && admit(tenant, project));
  }

  private synchronized boolean admit(String tenant, String project) {
    if (size == most) {
      return admitted.getOrDefault(tenant, Set.of()).contains(project);
    }
    if (admitted.computeIfAbsent(tenant, t -> ConcurrentHashMap.newKeySet()).add(project)) {
      size++;
      full = size == most;
    }
    return true;
  }
}
