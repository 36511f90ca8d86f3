package io.github.grpcidempotency.store;

import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.procedure.IdempotencyStatus;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * The operations of some procedures, by their ids. A caller finds only operations that it has begun
 * itself, in its own namespace. Not found are operations of other callers, operations that have
 * expired, and those that run in a transaction that has not been committed.
 *
 * <p>Thread-safe; every method may block, and throws a {@link StoreException} if the store fails.
 */
public interface OperationCatalog {
  /** Returns those of these operations that belong to the caller, in no particular order. */
  List<StoredOperation> find(Caller caller, Collection<UUID> operationIds);

  /**
   * Returns a page of a caller's operations, the newest first.
   *
   * @param procedures the names of the procedures to look at
   * @param before where the last page ended: only operations with a smaller id; empty for the first
   * @param limit how many operations at most
   */
  List<StoredOperation> list(
      Caller caller, Set<String> procedures, Optional<UUID> before, int limit);

  /**
   * Deletes an operation that has been answered; its key is free from then on.
   *
   * @return whether there was one
   */
  boolean forget(Caller caller, UUID operationId);

  /**
   * Returns how far the work behind resources of one procedure has come, each as its user sees it,
   * in as few round trips as the store can manage. A store that does not know the procedure's
   * resolver returns nothing; for what is missing, the caller asks the resolver.
   */
  Map<OwnedResource, IdempotencyStatus> statuses(
      RecordedProcedure procedure, Collection<OwnedResource> resources);
}
