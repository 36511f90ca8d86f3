package io.github.grpcidempotency.spring.boot;

import io.github.grpcidempotency.postgres.ExpirySweeper;
import java.util.Optional;
import java.util.function.Supplier;
import org.springframework.context.SmartLifecycle;

/**
 * Sweeps while the context runs, if there is a store to sweep. A sweeper cannot be started twice,
 * so each start of the context creates a new one.
 */
final class SweeperLifecycle implements SmartLifecycle {
  private final Supplier<Optional<ExpirySweeper>> sweepers;
  private final boolean startsWithContext;
  private Optional<ExpirySweeper> running = Optional.empty();

  SweeperLifecycle(Supplier<Optional<ExpirySweeper>> sweepers, boolean startsWithContext) {
    this.sweepers = sweepers;
    this.startsWithContext = startsWithContext;
  }

  /** Without procedures, the table may not exist. */
  @Override
  public boolean isAutoStartup() {
    return startsWithContext;
  }

  /** Starts before the gRPC server, which is in the last phase, and stops after it. */
  @Override
  public int getPhase() {
    return DEFAULT_PHASE - 1;
  }

  @Override
  public synchronized void start() {
    if (running.isEmpty()) {
      running = sweepers.get().map(ExpirySweeper::start);
    }
  }

  @Override
  public synchronized void stop() {
    running.ifPresent(ExpirySweeper::close);
    running = Optional.empty();
  }

  @Override
  public synchronized boolean isRunning() {
    return running.isPresent();
  }
}
