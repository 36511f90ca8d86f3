package io.github.grpcidempotency.example.service.organization;

/**
 * A cloud provider's API: an external system that is slow, and whose effects no rollback undoes. It
 * accepts idempotency keys, as every API should that is called from a handler that may run twice.
 * Thread-safe.
 */
@FunctionalInterface
public interface CloudProvider {
  /**
   * Buys a machine, or returns the machine that was bought with this key before. Blocks.
   *
   * @param key identifies the purchase; the same on every retry
   * @return the provider's id of the machine
   * @throws io.grpc.StatusRuntimeException with {@code ALREADY_EXISTS} if a machine in another
   *     region was bought with this key; with another code if it is unknown whether a machine was
   *     bought
   */
  String buy(String region, String key);
}
