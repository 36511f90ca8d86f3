package io.github.grpcidempotency.internal.service;

import com.google.longrunning.Operation;
import io.github.grpcidempotency.internal.record.RefusedException;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.proto.v1.OperationMetadata.State;
import io.github.grpcidempotency.store.StoredOperation;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The part of an operation that its caller may see now.
 *
 * @param stored the stored operation
 * @param procedure the procedure that was called
 * @param state the state of the operation
 * @param message the message for its caller
 */
record VisibleOperation(
    StoredOperation stored, Procedure procedure, State state, Operation message) {

  /**
   * Returns the part of an operation that its caller may see.
   *
   * @param statusUnknown called if the status cannot be read, with the exception of the resolver if
   *     there is one
   * @throws RefusedException if the caller may no longer get the answer, or the answer cannot be
   *     read
   */
  static VisibleOperation of(
      StoredOperation stored,
      Procedure procedure,
      Consumer<Optional<RuntimeException>> statusUnknown) {
    State state = OperationState.of(stored.standing(), procedure, statusUnknown);
    return new VisibleOperation(
        stored, procedure, state, OperationMessage.of(stored, state, procedure));
  }
}
