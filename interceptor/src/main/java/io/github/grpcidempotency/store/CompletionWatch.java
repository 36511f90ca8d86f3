package io.github.grpcidempotency.store;

import io.github.grpcidempotency.key.IdempotencyKey;

/**
 * Watches for the end of operations that other servers run, at the cost of at most one connection,
 * however many are watched. Thread-safe; no method blocks on the store.
 */
public interface CompletionWatch extends AutoCloseable {
  /**
   * Begins to watch a key. Its end is reported at least once, also if it came before: an answer is
   * recorded, the key is free, the lease is over, or the outcome is unknown.
   */
  void add(IdempotencyKey key);

  /** Stops watching a key. */
  void remove(IdempotencyKey key);

  /** Stops watching. */
  @Override
  void close();
}
