package io.github.grpcidempotency.example.service.organization;

import io.github.grpcidempotency.postgres.ClaimPreemptedException;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;
import java.util.UUID;
import java.util.function.Supplier;

/** Answers one unary call. */
final class Reply {
  private Reply() {}

  /** Sends what the supplier returns, or the status of what it throws. */
  static <ResponseT> void to(StreamObserver<ResponseT> observer, Supplier<ResponseT> answer) {
    ResponseT response;
    try {
      response = answer.get();
    } catch (ClaimPreemptedException duplicate) {
      throw duplicate; // no failure: a duplicate gets the recorded answer
    } catch (RuntimeException e) {
      observer.onError(FailureStatus.of(e));
      return;
    }
    observer.onNext(response);
    observer.onCompleted();
  }

  /**
   * Returns the same status for a resource that does not exist and for one that belongs to another
   * user.
   */
  static StatusRuntimeException notFound(String kind, UUID id) {
    return Status.NOT_FOUND
        .withDescription("there is no %s %s".formatted(kind, id))
        .asRuntimeException();
  }
}
