package io.github.grpcidempotency.spi;

import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.resource.OutboxQuery;
import io.github.grpcidempotency.resource.ResourceType;
import java.util.Optional;

/** The properties of a procedure that a store needs. */
public final class RecordedProcedure {
  private final Procedure procedure;

  private RecordedProcedure(Procedure procedure) {
    this.procedure = procedure;
  }

  /** Returns the properties of a procedure. */
  public static RecordedProcedure of(Procedure procedure) {
    return new RecordedProcedure(procedure);
  }

  public String name() {
    return procedure.name();
  }

  /** Returns the type of the resource in its answers, for a store that keeps references. */
  public Optional<ResourceType> resourceType() {
    return procedure.resourceType();
  }

  /**
   * Returns whether its calls delete the resource. A store that keeps references then keeps none to
   * a resource that does not exist when the answer is recorded.
   */
  public boolean deletes() {
    return procedure.deletes();
  }

  /**
   * Returns the declaration of the integer field that contains the resource id, such as {@code
   * int64 order.id}; empty if the id is in a text field, or if a function returns it.
   */
  public Optional<String> integerIdField() {
    return procedure.integerIdField();
  }

  /**
   * Returns the query for the status of the asynchronous work behind an answer, if it has one. A
   * store that can run the query reads the status together with the record.
   */
  public Optional<OutboxQuery> outbox() {
    return procedure
        .statusSource()
        .filter(OutboxQuery.class::isInstance)
        .map(OutboxQuery.class::cast);
  }

  /**
   * Returns whether duplicates may wait for the end of a running call, so that a {@link
   * CompletionWatch} has to report it.
   */
  public boolean awaited() {
    return !procedure.attachLimit().isZero();
  }
}
