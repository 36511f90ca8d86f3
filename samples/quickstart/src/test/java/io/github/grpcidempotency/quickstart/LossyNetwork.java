package io.github.grpcidempotency.quickstart;

import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import java.util.concurrent.atomic.AtomicInteger;

/** Loses the first response: its handler has run, and the client gets {@code UNAVAILABLE}. */
final class LossyNetwork implements ServerInterceptor {
  final AtomicInteger calls = new AtomicInteger();

  @Override
  public <Q, A> ServerCall.Listener<Q> interceptCall(
      ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
    ServerCall<Q, A> impaired = calls.getAndIncrement() == 0 ? lossy(call) : call;
    return OrderServer.authenticate(impaired, headers, next);
  }

  private static <Q, A> ServerCall<Q, A> lossy(ServerCall<Q, A> call) {
    return new SimpleForwardingServerCall<>(call) {
      @Override
      public void sendHeaders(Metadata headers) {}

      @Override
      public void sendMessage(A message) {}

      @Override
      public void close(Status status, Metadata trailers) {
        super.close(Status.UNAVAILABLE.withDescription("the response is lost"), new Metadata());
      }
    };
  }
}
