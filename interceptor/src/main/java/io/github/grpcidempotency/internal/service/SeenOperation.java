package io.github.grpcidempotency.internal.service;

import com.google.longrunning.Operation;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.proto.v1.OperationMetadata.State;
import io.github.grpcidempotency.store.StoredOperation;
import java.util.function.Consumer;

/**
 * An operation as its caller may see it now.
 *
 * @param stored what is stored of it
 * @param procedure what was called
 * @param state how far it has come
 * @param message what its caller is sent
 */
record SeenOperation(StoredOperation stored, Procedure procedure, State state, Operation message) {

  /**
   * Returns what a caller sees of its operation.
   *
   * @param statusUnknown gets what the resolver of the status of asynchronous work throws
   * @throws RefusedException if it may not have the answer any more, or the answer cannot be read
   */
  static SeenOperation of(
      StoredOperation stored, Procedure procedure, Consumer<RuntimeException> statusUnknown) {
    State state = OperationState.of(stored.standing(), procedure, statusUnknown);
    return new SeenOperation(
        stored, procedure, state, OperationMessage.of(stored, state, procedure));
  }
}
