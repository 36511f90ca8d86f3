package io.github.grpcidempotency.store;

import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.resource.OutboxQuery;
import io.github.grpcidempotency.resource.ResourceType;
import java.util.Optional;

/**
 * The properties of a procedure that a store needs.
 *
 * @param resourceType the type of the resource in its answers, for a store that keeps references
 * @param deletes whether its calls delete the resource; a store that keeps references then keeps
 *     none to a resource that does not exist when the answer is recorded
 * @param integerIdField the declaration of the integer field that contains the resource id, such as
 *     {@code int64 order.id}; empty if the id is in a text field, or if a function returns it
 * @param outbox the query for the status of the asynchronous work behind an answer, if it has one;
 *     a store that can run it reads the status together with the record
 * @param awaited whether duplicates may wait for the end of a running call, so that a {@link
 *     CompletionWatch} has to report it
 */
public record RecordedProcedure(
    String name,
    Optional<ResourceType> resourceType,
    boolean deletes,
    Optional<String> integerIdField,
    Optional<OutboxQuery> outbox,
    boolean awaited) {

  /** Returns the properties of a procedure. */
  public static RecordedProcedure of(Procedure procedure) {
    return new RecordedProcedure(
        procedure.name(),
        procedure.resourceType(),
        procedure.deletes(),
        procedure.integerIdField(),
        procedure.statusSource().filter(OutboxQuery.class::isInstance).map(OutboxQuery.class::cast),
        !procedure.attachLimit().isZero());
  }
}
