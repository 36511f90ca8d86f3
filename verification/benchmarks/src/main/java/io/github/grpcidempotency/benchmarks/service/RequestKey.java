package io.github.grpcidempotency.benchmarks.service;

import io.github.grpcidempotency.grpc.IdempotencyMetadata;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Passes the key to code that handles it itself: a handler, or other libraries. */
final class RequestKey implements ServerInterceptor {
  private static final Context.Key<String> KEY = Context.key("key");

  private final Set<String> methods =
      Stream.concat(
              Stream.of(Variant.SEPARATE, Variant.BARE_RECORD).map(Variant::method),
              PeerVariant.ALL.stream().map(PeerVariant::method))
          .map(MethodDescriptor::getFullMethodName)
          .collect(Collectors.toUnmodifiableSet());

  static String current() {
    return KEY.get();
  }

  @Override
  public <RequestT, ResponseT> ServerCall.Listener<RequestT> interceptCall(
      ServerCall<RequestT, ResponseT> call,
      Metadata headers,
      ServerCallHandler<RequestT, ResponseT> next) {
    if (!methods.contains(call.getMethodDescriptor().getFullMethodName())) {
      return next.startCall(call, headers);
    }
    Context context = Context.current().withValue(KEY, headers.get(IdempotencyMetadata.KEY));
    return Contexts.interceptCall(context, call, headers, next);
  }
}
