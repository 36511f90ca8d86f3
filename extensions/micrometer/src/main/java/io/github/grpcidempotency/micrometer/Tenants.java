package io.github.grpcidempotency.micrometer;

import io.github.grpcidempotency.event.CallInfo;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The tenants that have meters of their own: the first ones that call, up to a limit. Thread-safe.
 */
final class Tenants {
  private final int most;
  private final Set<String> admitted = ConcurrentHashMap.newKeySet();
  private volatile boolean full;

  Tenants(int most) {
    if (most <= 0) {
      throw new IllegalArgumentException(
          "the number of tenants with meters of their own must be at least 1, not " + most);
    }
    this.most = most;
  }

  /**
   * Returns the name under which a call is counted. Once a tenant has a name of its own, it keeps
   * that name.
   */
  String of(CallInfo call) {
    String tenant = call.tenant().orElse(MetricTags.NONE);
    return admitted.contains(tenant) || (!full && admit(tenant)) ? tenant : MetricTags.OTHER;
  }

  private synchronized boolean admit(String tenant) {
    if (admitted.size() == most) {
      return admitted.contains(tenant);
    }
    admitted.add(tenant);
    full = admitted.size() == most;
    return true;
  }
}
