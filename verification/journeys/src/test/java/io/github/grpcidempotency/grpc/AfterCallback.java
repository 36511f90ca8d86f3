package io.github.grpcidempotency.grpc;

import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;

/**
 * Does something once the server has handled a callback of a call.
 *
 * @param halfClose what is done after the request was handled
 * @param cancel what is done after a cancellation was handled
 */
record AfterCallback(Runnable halfClose, Runnable cancel) implements ServerInterceptor {
  static AfterCallback halfClose(Runnable work) {
    return new AfterCallback(work, () -> {});
  }

  static AfterCallback cancel(Runnable work) {
    return new AfterCallback(() -> {}, work);
  }

  @Override
  public <RequestT, ResponseT> ServerCall.Listener<RequestT> interceptCall(
      ServerCall<RequestT, ResponseT> call,
      Metadata headers,
      ServerCallHandler<RequestT, ResponseT> next) {
    return new SimpleForwardingServerCallListener<>(next.startCall(call, headers)) {
      @Override
      public void onHalfClose() {
        super.onHalfClose();
        halfClose.run();
      }

      @Override
      public void onCancel() {
        super.onCancel();
        cancel.run();
      }
    };
  }
}
