package io.github.grpcidempotency.spi;

import io.github.grpcidempotency.key.IdempotencyKey;

/**
 * Watches for the end of operations on other servers. Uses at most one connection, independent of
 * the number of operations. Thread-safe; no method blocks on the store.
 */
public interface CompletionWatch extends AutoCloseable {
  /**
   * Starts to watch a key. The end of its operation is reported at least once, even if it was
   * before this call: an answer is recorded, the key is free, the lease has ended, or the outcome
   * is unknown.
   */
  void add(IdempotencyKey key);

  void remove(IdempotencyKey key);

  @Override
  void close();
}
