package io.github.grpcidempotency.example.service.organization;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;
import java.util.UUID;
import java.util.function.Supplier;

/** Answers one unary call. */
final class Reply {
  private Reply() {}

  /** Sends the result of the supplier, or the status for its exception. */
  static <ResponseT> void to(StreamObserver<ResponseT> observer, Supplier<ResponseT> answer) {
    ResponseT response;
    try {
      response = answer.get();
    } catch (RuntimeException e) {
      observer.onError(FailureStatus.of(e));
      return;
    }
    observer.onNext(response);
    observer.onCompleted();
  }

  /** Returns the same status for a missing resource and for a resource of another user. */
  static StatusRuntimeException notFound(String kind, UUID id) {
    return Status.NOT_FOUND
        .withDescription("there is no %s %s".formatted(kind, id))
        .asRuntimeException();
  }
}
