package io.github.grpcidempotency.benchmarks.service;

import io.github.grpcidempotency.grpc.IdempotencyMetadata;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;

/** Shows the key to the one handler that has to look after it by itself. */
final class RequestKey implements ServerInterceptor {
  private static final Context.Key<String> KEY = Context.key("key");

  static String current() {
    return KEY.get();
  }

  @Override
  public <RequestT, ResponseT> ServerCall.Listener<RequestT> interceptCall(
      ServerCall<RequestT, ResponseT> call,
      Metadata headers,
      ServerCallHandler<RequestT, ResponseT> next) {
    String method = call.getMethodDescriptor().getFullMethodName();
    if (!method.equals(Variant.SEPARATE.method().getFullMethodName())) {
      return next.startCall(call, headers);
    }
    Context context = Context.current().withValue(KEY, headers.get(IdempotencyMetadata.KEY));
    return Contexts.interceptCall(context, call, headers, next);
  }
}
