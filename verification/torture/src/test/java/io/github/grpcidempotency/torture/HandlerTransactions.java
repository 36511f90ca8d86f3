package io.github.grpcidempotency.torture;

import com.google.common.base.Throwables;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import java.sql.SQLException;

/** How handlers write together with their record, and what the store knows of it. */
interface HandlerTransactions {
  /** PostgreSQL's state of what follows a failed statement. */
  String FAILED_TRANSACTION = "25P02";

  /** What a handler does after it has written, and before its transaction ends. */
  @FunctionalInterface
  interface Rest {
    void run();
  }

  /**
   * Writes, and does not mind if nothing can be written in a transaction that has failed. With the
   * driver's {@code autosave} a failed statement leaves it as it was.
   */
  static void unlessFailed(Rest write) {
    try {
      write.run();
    } catch (RuntimeException failure) {
      boolean inFailed =
          Throwables.getCausalChain(failure).stream()
              .anyMatch(
                  cause ->
                      cause instanceof SQLException database
                          && FAILED_TRANSACTION.equals(database.getSQLState()));
      if (!inFailed) {
        throw failure;
      }
    }
  }

  /** Tells the store whose transactions handlers have. */
  void configure(PostgresIdempotencyStore.Builder store);

  /** Writes in the transaction of the claim, in the run's {@link Way}. */
  void write(EffectRun run, Rest rest);

  /** Writes in a transaction of the handler's own, which records the answer as well. */
  void join(EffectRun run, Rest rest);

  /**
   * Writes in a transaction of the handler's own, which knows nothing of the record. It is rolled
   * back if the rest throws.
   */
  void beside(EffectRun run, Rest rest);

  /**
   * The same, but rolled back in any case, which is known before the rest where a host can say so.
   *
   * @param locks whether the record is locked as well
   */
  void inVain(EffectRun run, boolean locks, Rest rest);

  /**
   * Whether transactions are those of a host: of one thread, and rolled back if an answer is given
   * in one.
   */
  boolean areOfHost();
}
