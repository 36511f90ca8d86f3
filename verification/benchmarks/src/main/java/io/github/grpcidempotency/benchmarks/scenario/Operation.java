package io.github.grpcidempotency.benchmarks.scenario;

import java.util.function.Consumer;

/** Something asynchronous that callers do over and over. */
public interface Operation {
  /** Begins it once more; {@code done} is told how it ended. */
  void begin(Consumer<Reply> done);
}
