package io.github.grpcidempotency.benchmarks.scenario;

import java.util.function.Consumer;

/** An asynchronous operation that callers repeat. */
public interface Operation {
  /** Begins the operation, and passes its result to {@code done}. */
  void begin(Consumer<Reply> done);
}
