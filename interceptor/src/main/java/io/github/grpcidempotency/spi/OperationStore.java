package io.github.grpcidempotency.spi;

import io.github.grpcidempotency.store.StoreException;
import java.util.Collection;
import java.util.Map;

/** A store in which callers find their own operations by id. Thread-safe. */
public interface OperationStore extends IdempotencyStore {
  /**
   * Opens the operations of these procedures. Called once, at start-up. Logs a warning if
   * operations can be found only slowly, for example because an index is missing.
   *
   * @throws StoreException if the store cannot be reached
   */
  OperationCatalog operations(Collection<RecordedProcedure> procedures);

  /**
   * Returns what finds the unfinished work of those of the procedures that have an outbox query. By
   * default, it finds none.
   */
  default UnfinishedWork unfinishedWork(Collection<RecordedProcedure> procedures) {
    return Map::of;
  }
}
