package io.github.grpcidempotency.store;

import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.ResourceType;
import io.github.grpcidempotency.procedure.StatusResolver;
import java.util.Optional;

/**
 * What a store knows about a procedure, and all that it needs to know.
 *
 * @param name the procedure's name in records
 * @param resourceType the kind of resource that its answers name, for a store that keeps references
 * @param deletes whether its answers name a resource that the call deletes; a store that keeps
 *     references then keeps none to a resource that is gone when the answer is recorded
 * @param statusResolver finds how far the work behind an answer has come. A store that knows the
 *     type of this resolver may query it together with the record; it ignores all others
 * @param awaited whether duplicates may wait for the end of a running call: only then does a {@link
 *     CompletionWatch} have to learn of it
 * @param sameDatabase whether the effect is written to the database that the store is in: a crash
 *     that loses a reservation has then lost the effect too
 */
public record RecordedProcedure(
    String name,
    Optional<ResourceType> resourceType,
    boolean deletes,
    Optional<StatusResolver> statusResolver,
    boolean awaited,
    boolean sameDatabase) {

  /** Returns what a store knows about a procedure. */
  public static RecordedProcedure of(Procedure procedure) {
    return new RecordedProcedure(
        procedure.name(),
        procedure.resourceType(),
        procedure.deletes(),
        procedure.statusResolver(),
        procedure.inFlightPolicy().attaches(),
        procedure.execution() == Execution.RESERVED_SAME_DATABASE);
  }
}
