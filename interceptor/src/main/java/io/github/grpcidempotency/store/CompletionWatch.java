package io.github.grpcidempotency.store;

import io.github.grpcidempotency.key.IdempotencyKey;

/**
 * Looks out for the end of operations that other servers run, at the cost of one connection at most
 * and however many are watched. Thread-safe; neither method blocks on the store.
 */
public interface CompletionWatch extends AutoCloseable {
  /** Begins to look out for the end of whatever runs under the request's key. */
  void add(ClaimRequest request);

  /** Stops looking out. */
  void remove(IdempotencyKey key);

  /** Stops looking out for anything. */
  @Override
  void close();
}
