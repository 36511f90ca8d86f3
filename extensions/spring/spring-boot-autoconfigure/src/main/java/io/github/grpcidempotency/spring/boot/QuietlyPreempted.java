package io.github.grpcidempotency.spring.boot;

import io.github.grpcidempotency.postgres.ClaimPreemptedException;
import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;

/**
 * Hides {@code ClaimPreemptedException} from the mapping of exceptions. A handler that was stopped
 * because its call is a duplicate is not a failure: the mapping would log an error, and its status
 * would be discarded.
 */
final class QuietlyPreempted<RequestT, ResponseT>
    implements ServerCallHandler<RequestT, ResponseT> {
  private final ServerCallHandler<RequestT, ResponseT> handler;

  QuietlyPreempted(ServerCallHandler<RequestT, ResponseT> handler) {
    this.handler = handler;
  }

  @Override
  public ServerCall.Listener<RequestT> startCall(
      ServerCall<RequestT, ResponseT> call, Metadata headers) {
    return new SimpleForwardingServerCallListener<>(handler.startCall(call, headers)) {
      @Override
      public void onHalfClose() {
        try {
          super.onHalfClose();
        } catch (RuntimeException failure) {
          if (!isPreempted(failure)) {
            throw failure;
          }
        }
      }
    };
  }

  private static boolean isPreempted(RuntimeException failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof ClaimPreemptedException) {
        return true;
      }
    }
    return false;
  }
}
