package io.github.grpcidempotency.example.service.organization;

/**
 * A cloud provider's API: something outside the database that is slow, and that no rollback undoes.
 * It takes idempotency keys, as any API should that is called from a handler that may run twice.
 * Thread-safe.
 */
@FunctionalInterface
public interface CloudProvider {
  /**
   * Buys a machine, or returns the one that the key has bought before. Blocks.
   *
   * @param key identifies the purchase; the same on every retry
   * @return the provider's id of the machine
   * @throws io.grpc.StatusRuntimeException with {@code ALREADY_EXISTS} if the key has bought a
   *     machine in another region; with another code if it is unknown whether a machine was bought
   */
  String buy(String region, String key);
}
