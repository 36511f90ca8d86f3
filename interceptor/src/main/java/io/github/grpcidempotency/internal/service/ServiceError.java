package io.github.grpcidempotency.internal.service;

import io.github.grpcidempotency.event.RefusalReason;
import io.github.grpcidempotency.internal.decision.Refusal;
import io.github.grpcidempotency.internal.event.CallEvents;
import io.github.grpcidempotency.internal.record.RefusedException;
import io.github.grpcidempotency.internal.wire.RefusalError;
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

  /** Returns the error for the client, and emits an event if the failure is a refusal. */
  static StatusRuntimeException of(
      RuntimeException failure, CallEvents events, Optional<UUID> operationId) {
    if (failure instanceof StatusRuntimeException said) {
      return said;
    }
    RefusedException refused = refusedBecause(failure);
    events.refused(refused.refusal(), operationId, refused.why().orElse(null));
    return RefusalError.of(refused.refusal(), "name");
  }

  private static RefusedException refusedBecause(RuntimeException failure) {
    if (failure instanceof RefusedException refused) {
      return refused;
    }
    return failure instanceof StoreException outage
        ? new RefusedException(Refusal.storeUnavailable(outage.failureCause()), Optional.of(outage))
        : new RefusedException(
            Refusal.of(RefusalReason.IDEMPOTENCY_RECORD_UNREADABLE), Optional.of(failure));
  }
}
