package io.github.grpcidempotency.example.demo;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.ForwardingClientCallListener.SimpleForwardingClientCallListener;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;

/**
 * Simulates a network that loses answers: the server has executed the call, and the client gets a
 * failure.
 */
final class LostAnswers implements ClientInterceptor {
  @Override
  public <RequestT, ResponseT> ClientCall<RequestT, ResponseT> interceptCall(
      MethodDescriptor<RequestT, ResponseT> method, CallOptions options, Channel next) {
    return new SimpleForwardingClientCall<>(next.newCall(method, options)) {
      @Override
      public void start(Listener<ResponseT> client, Metadata headers) {
        super.start(
            new SimpleForwardingClientCallListener<>(client) {
              @Override
              public void onMessage(ResponseT message) {
                // lost
              }

              @Override
              public void onClose(Status status, Metadata trailers) {
                Status cut = Status.UNAVAILABLE.withDescription("the connection was cut");
                super.onClose(cut, new Metadata());
              }
            },
            headers);
      }
    };
  }
}
