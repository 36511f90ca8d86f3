package io.github.grpcidempotency.spi;

import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.resource.IdempotencyStatus;
import io.github.grpcidempotency.resource.ResourceId;
import io.github.grpcidempotency.store.StoreException;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * The operations of some procedures, by their ids. A caller finds only its own operations, in its
 * own namespace. Expired operations are not found, nor are operations in a transaction that has not
 * been committed.
 *
 * <p>Thread-safe; every method may block, and throws a {@link StoreException} if the store fails.
 */
public interface OperationCatalog {
  /**
   * A resource, and the caller whose operation refers to it.
   *
   * @param caller the caller on whose behalf the resource is read
   */
  record OwnedResource(Caller caller, ResourceId resourceId) {}

  /** Returns the operations with these ids that belong to the caller, in no particular order. */
  List<StoredOperation> find(Caller caller, Collection<UUID> operationIds);

  /**
   * Returns a page of a caller's operations, the newest first.
   *
   * @param procedures the names of the procedures whose operations are listed
   * @param before the last id of the previous page: only operations with a smaller id are returned;
   *     empty for the first page
   */
  List<StoredOperation> list(
      Caller caller, Set<String> procedures, Optional<UUID> before, int limit);

  /**
   * Deletes an operation that has been answered. Its key is free afterwards.
   *
   * @return whether there was such an operation
   */
  boolean forget(Caller caller, UUID operationId);

  /**
   * Returns the status of the asynchronous work behind resources of one procedure, in as few round
   * trips as possible. Each resource is read with the rights of its caller. A store that does not
   * know the type of the procedure's resolver returns nothing; for missing resources, the caller of
   * this method calls the resolver.
   */
  Map<OwnedResource, IdempotencyStatus> statuses(
      RecordedProcedure procedure, Collection<OwnedResource> resources);
}
