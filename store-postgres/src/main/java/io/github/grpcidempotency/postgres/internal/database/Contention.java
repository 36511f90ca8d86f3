package io.github.grpcidempotency.postgres.internal.database;

import io.github.grpcidempotency.postgres.internal.sql.Failures;
import io.github.grpcidempotency.spi.FailurePhase;
import io.github.grpcidempotency.spi.FailureRemedy;
import io.github.grpcidempotency.store.FailureCause;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jdbi.v3.core.JdbiException;

/**
 * Retries transactions that the database has rolled back because of another transaction (SQLSTATE
 * class 40). Nothing of such a transaction remains. Under stricter isolation than {@code READ
 * COMMITTED}, every race has the same result as if the losing transaction had waited for the
 * winner. A transaction that has waited for a locked row until {@code lock_timeout} is not retried.
 */
public final class Contention {
  private static final int MAX_TRIES = 20;
  private static final long MAX_PAUSE_MICROS = 10_000;

  private Contention() {}

  public static <T> T retrying(Supplier<T> transaction) {
    for (int tries = 1; ; tries++) {
      try {
        return transaction.get();
      } catch (JdbiException failure) {
        FailureCause cause = Failures.causeOf(failure);
        if (tries == MAX_TRIES
            || Failures.isLockTimeout(failure)
            || cause.remedy(FailurePhase.NOTHING_SENT) != FailureRemedy.TRY_AGAIN) {
          throw failure;
        }
        pause(tries);
      }
    }
  }

  private static void pause(int tries) {
    long longest = Math.min(MAX_PAUSE_MICROS, 500L << Math.min(tries, 10));
    LockSupport.parkNanos(
        TimeUnit.MICROSECONDS.toNanos(ThreadLocalRandom.current().nextLong(1, longest)));
  }
}
