package io.github.grpcidempotency.spring.example;

import io.grpc.Status;
import io.grpc.StatusException;
import org.jspecify.annotations.Nullable;
import org.springframework.grpc.server.exception.GrpcExceptionHandler;
import org.springframework.stereotype.Component;

/**
 * Maps exceptions to the statuses for clients. All other exceptions become {@code INTERNAL} or
 * {@code UNKNOWN}.
 */
@Component
class Failures implements GrpcExceptionHandler {
  @Override
  public @Nullable StatusException handleException(Throwable failure) {
    if (failure instanceof NotToBeShippedException) {
      return Status.FAILED_PRECONDITION.withDescription(failure.getMessage()).asException();
    }
    if (failure instanceof CardCompanyException) {
      return Status.UNAVAILABLE.withDescription(failure.getMessage()).asException();
    }
    return null;
  }
}
