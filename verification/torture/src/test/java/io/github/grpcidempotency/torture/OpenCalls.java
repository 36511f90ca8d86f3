package io.github.grpcidempotency.torture;

import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Counts the calls that have begun and not ended, as gRPC sees them. Those whose handlers never
 * answer do not count.
 */
final class OpenCalls implements ServerInterceptor {
  private final AtomicInteger open = new AtomicInteger();

  int count() {
    return open.get();
  }

  @Override
  public <RequestT, ResponseT> ServerCall.Listener<RequestT> interceptCall(
      ServerCall<RequestT, ResponseT> call,
      Metadata headers,
      ServerCallHandler<RequestT, ResponseT> next) {
    if (Manner.NEVER.name().equals(headers.get(TortureServer.MANNER))) {
      return next.startCall(call, headers);
    }
    open.incrementAndGet();
    return new SimpleForwardingServerCallListener<>(next.startCall(call, headers)) {
      @Override
      public void onComplete() {
        open.decrementAndGet();
        super.onComplete();
      }

      @Override
      public void onCancel() {
        open.decrementAndGet();
        super.onCancel();
      }
    };
  }
}
