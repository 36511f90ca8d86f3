package io.github.grpcidempotency.spi;

import io.github.grpcidempotency.store.StoreException;
import java.time.Duration;
import java.util.Map;

/**
 * The asynchronous work behind the recorded answers of some procedures. Work counts as finished
 * once its status is not {@code processing}.
 */
public interface UnfinishedWork {
  /**
   * The unfinished work of a procedure.
   *
   * @param answers the number of answers with unfinished work; if there are many, at least so many
   * @param oldest the age of the oldest of these answers; zero if there is none
   */
  record Backlog(int answers, Duration oldest) {
    public static final Backlog NONE = new Backlog(0, Duration.ZERO);
  }

  /**
   * Returns the backlog of each procedure. Continues where the last call has found unfinished work.
   *
   * @throws StoreException if the store failed
   */
  Map<String, Backlog> read();
}
