package io.github.grpcidempotency.hosts.micronaut;

import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.micronaut.core.order.Ordered;
import jakarta.inject.Singleton;

/** Stands for authentication and accepts everybody: yours verifies a token. */
@Singleton
final class Authentication implements ServerInterceptor, Ordered {
  static final Metadata.Key<String> SUBJECT_HEADER =
      Metadata.Key.of("subject", Metadata.ASCII_STRING_MARSHALLER);
  static final Context.Key<String> SUBJECT = Context.key("subject");

  @Override
  public <Q, A> ServerCall.Listener<Q> interceptCall(
      ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
    Context context = Context.current().withValue(SUBJECT, headers.get(SUBJECT_HEADER));
    return Contexts.interceptCall(context, call, headers, next);
  }

  @Override
  public int getOrder() {
    return HIGHEST_PRECEDENCE;
  }
}
