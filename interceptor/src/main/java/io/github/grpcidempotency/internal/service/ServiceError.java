package io.github.grpcidempotency.internal.service;

import io.github.grpcidempotency.internal.decision.Refusal;
import io.github.grpcidempotency.internal.wire.RefusalError;
import io.github.grpcidempotency.store.StoreException;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The errors of a service that finds operations. */
final class ServiceError {
  private static final Logger logger = LoggerFactory.getLogger(ServiceError.class);

  private ServiceError() {}

  /** Returns a refusal of the wire contract. */
  static StatusRuntimeException refused(Refusal refusal) {
    return RefusalError.of(refusal, "name");
  }

  /** Returns the error of a request that cannot be served. */
  static StatusRuntimeException invalid(String why) {
    return Status.INVALID_ARGUMENT.withDescription(why).asRuntimeException();
  }

  /** Returns what a client is told of a failure. */
  static StatusRuntimeException of(RuntimeException failure) {
    if (failure instanceof StatusRuntimeException said) {
      return said;
    }
    if (failure instanceof StoreException outage) {
      return refused(Refusal.storeUnavailable(outage.failureCause()));
    }
    logger.error("an operation cannot be read", failure);
    return refused(Refusal.recordUnreadable());
  }
}
