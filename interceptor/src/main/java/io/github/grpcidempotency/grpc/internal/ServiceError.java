package io.github.grpcidempotency.grpc.internal;

import io.github.grpcidempotency.event.RefusalReason;
import io.github.grpcidempotency.internal.decision.Refusal;
import io.github.grpcidempotency.internal.event.CallEvents;
import io.github.grpcidempotency.internal.record.RefusedException;
import io.github.grpcidempotency.key.KeyException;
import io.github.grpcidempotency.key.KeyProblem;
import io.github.grpcidempotency.store.StoreException;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.util.Optional;
import java.util.UUID;

/** The errors of the services for operations. */
final class ServiceError {
  private ServiceError() {}

  /** Returns the error of a request that is not valid. */
  static StatusRuntimeException invalid(String why) {
    return Status.INVALID_ARGUMENT.withDescription(why).asRuntimeException();
  }

  /**
   * Returns the error for the client, and emits an event unless the request is not valid.
   *
   * @param keyName the name of the key, or of the operation, in the request
   */
  static StatusRuntimeException of(
      Throwable failure, CallEvents events, Optional<UUID> operationId, String keyName) {
    if (failure instanceof StatusRuntimeException said) {
      return said;
    }
    RefusedException refused = refusedBecause(failure);
    events.refused(refused.refusal(), operationId, refused.getCause());
    return RefusalError.of(refused.refusal(), keyName);
  }

  private static RefusedException refusedBecause(Throwable failure) {
    if (failure instanceof RefusedException refused) {
      return refused;
    }
    if (failure instanceof KeyException unusable) {
      return unusable.problem() == KeyProblem.UNAUTHENTICATED
          ? RefusedException.of(RefusalReason.CALLER_REQUIRED, unusable)
          : new RefusedException(Refusal.invalidKey(unusable), unusable);
    }
    return failure instanceof StoreException outage
        ? RefusedException.temporary(outage)
        : RefusedException.of(RefusalReason.RECORD_UNREADABLE, failure);
  }
}
