package io.github.grpcidempotency.torture;

import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;

/** How handlers write together with their record, and what the store knows of it. */
interface HandlerTransactions {
  /** What a handler does after it has written, and before its transaction ends. */
  @FunctionalInterface
  interface Rest {
    void run();
  }

  /** Tells the store whose transactions handlers have. */
  void configure(PostgresIdempotencyStore.Builder store);

  /** Writes in the transaction of the claim, in the run's {@link Way}. */
  void write(EffectRun run, Rest rest);

  /** Writes in a transaction of the handler's own, which records the answer as well. */
  void join(EffectRun run, Rest rest);

  /** Whether a handler that joins may answer before its transaction has ended. */
  boolean holdsAnswersBack();
}
