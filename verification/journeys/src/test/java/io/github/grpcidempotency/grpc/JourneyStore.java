package io.github.grpcidempotency.grpc;

import io.github.grpcidempotency.spi.IdempotencyStore;
import java.time.Duration;

/**
 * The kind of store that the tests of calls run on. They run in memory, unless the module that runs
 * them provides a kind of its own by a {@link java.util.ServiceLoader}.
 */
public interface JourneyStore {
  /** Returns a store without records; it is closed after the test if it can be. */
  IdempotencyStore newStore(Duration lease);

  /** Lets time pass for every store, or aborts the test where the clock cannot be put forward. */
  void letPass(Duration time);
}
