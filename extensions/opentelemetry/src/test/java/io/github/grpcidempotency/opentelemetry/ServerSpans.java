package io.github.grpcidempotency.opentelemetry;

import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;

/** Makes a server span of each call, and makes it current, as what instruments gRPC does. */
final class ServerSpans implements ServerInterceptor {
  private final Tracer tracer;

  ServerSpans(Tracer tracer) {
    this.tracer = tracer;
  }

  @Override
  public <RequestT, ResponseT> ServerCall.Listener<RequestT> interceptCall(
      ServerCall<RequestT, ResponseT> call,
      Metadata headers,
      ServerCallHandler<RequestT, ResponseT> next) {
    Span span =
        tracer
            .spanBuilder(call.getMethodDescriptor().getFullMethodName())
            .setSpanKind(SpanKind.SERVER)
            .setNoParent()
            .startSpan();
    Context context = Context.root().with(span);
    ServerCall<RequestT, ResponseT> ending =
        new SimpleForwardingServerCall<>(call) {
          @Override
          public void close(Status status, Metadata trailers) {
            span.end();
            super.close(status, trailers);
          }
        };
    ServerCall.Listener<RequestT> inner =
        context.wrapSupplier(() -> next.startCall(ending, headers)).get();
    return new SimpleForwardingServerCallListener<>(inner) {
      @Override
      public void onMessage(RequestT message) {
        run(() -> super.onMessage(message));
      }

      @Override
      public void onHalfClose() {
        run(super::onHalfClose);
      }

      @Override
      public void onCancel() {
        run(super::onCancel);
      }

      @Override
      public void onComplete() {
        run(super::onComplete);
      }

      @Override
      public void onReady() {
        run(super::onReady);
      }

      private void run(Runnable action) {
        context.wrap(action).run();
      }
    };
  }
}
