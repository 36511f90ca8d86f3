package io.github.grpcidempotency.example.run;

import io.github.grpcidempotency.example.service.organization.CloudProvider;
import io.grpc.Status;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Simulates a cloud provider, which would be another service with a database of its own. In a
 * region whose name starts with {@code flaky-}, the answer to the first sale is lost.
 */
public final class MachineShop implements CloudProvider {
  private final Map<String, Sale> sales = new ConcurrentHashMap<>();

  private record Sale(String machine, String region) {}

  @Override
  public synchronized String buy(String region, String key) {
    boolean answerIsLost = region.startsWith("flaky-") && soldIn(region).isEmpty();
    Sale sale =
        sales.computeIfAbsent(key, unsold -> new Sale("machine-" + UUID.randomUUID(), region));
    if (!sale.region().equals(region)) {
      throw Status.ALREADY_EXISTS.asRuntimeException();
    }
    if (answerIsLost) {
      throw Status.UNAVAILABLE.asRuntimeException();
    }
    return sale.machine();
  }

  /** Returns the machines that were sold in a region. */
  public List<String> soldIn(String region) {
    return sales.values().stream()
        .filter(sale -> sale.region().equals(region))
        .map(Sale::machine)
        .toList();
  }
}
