package io.github.grpcidempotency.example.caller;

import io.github.grpcidempotency.example.organization.v1.WebhookServiceGrpc;
import io.github.grpcidempotency.key.Caller;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * <b>A stand-in for authentication, not authentication:</b> it believes whoever says {@code
 * authorization: Bearer <user uuid>}. A real service verifies a token here. What the library needs
 * is the same with either: the caller in the gRPC {@link Context} before its interceptor runs.
 *
 * <p>An optional {@code organization} becomes the caller's tenant, and an optional {@code project}
 * its project: neither a key nor, by the organization, a resource of the one is known in the other.
 * Without them a call stands above organizations, or above the projects of one.
 *
 * <p>Health and reflection are open to everybody, and so is what webhooks deliver, which proves
 * itself by its signature.
 */
public final class BearerStandIn implements ServerInterceptor {
  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);
  private static final Metadata.Key<String> ORGANIZATION =
      Metadata.Key.of("organization", Metadata.ASCII_STRING_MARSHALLER);
  private static final Metadata.Key<String> PROJECT =
      Metadata.Key.of("project", Metadata.ASCII_STRING_MARSHALLER);
  private static final String SCHEME = "Bearer ";
  private static final Set<String> OPEN_SERVICES =
      Set.of(
          "grpc.health.v1.Health",
          "grpc.reflection.v1.ServerReflection",
          "grpc.reflection.v1alpha.ServerReflection");
  private static final MethodDescriptor<?, ?> SIGNED = WebhookServiceGrpc.getIngestMethod();

  @Override
  public <ReqT, RespT> ServerCall.Listener<ReqT> interceptCall(
      ServerCall<ReqT, RespT> call, Metadata headers, ServerCallHandler<ReqT, RespT> next) {
    if (isOpen(call.getMethodDescriptor())) {
      return next.startCall(call, headers);
    }
    Optional<UUID> user = user(headers);
    if (user.isEmpty()) {
      return refuse(
          call, Status.UNAUTHENTICATED.withDescription("say authorization: Bearer <user uuid>"));
    }
    Caller caller;
    try {
      caller = inProject(inOrganization(Caller.of(user.get()), headers), headers);
    } catch (IllegalArgumentException e) {
      return refuse(call, Status.INVALID_ARGUMENT.withDescription(e.getMessage()));
    }
    Context context = Context.current().withValue(CurrentCaller.KEY, caller);
    return Contexts.interceptCall(context, call, headers, next);
  }

  private static boolean isOpen(MethodDescriptor<?, ?> method) {
    return OPEN_SERVICES.contains(String.valueOf(method.getServiceName()))
        || method.getFullMethodName().equals(SIGNED.getFullMethodName());
  }

  private static Caller inOrganization(Caller caller, Metadata headers) {
    return Optional.ofNullable(headers.get(ORGANIZATION)).map(caller::inTenant).orElse(caller);
  }

  private static Caller inProject(Caller caller, Metadata headers) {
    return Optional.ofNullable(headers.get(PROJECT)).map(caller::inProject).orElse(caller);
  }

  private static Optional<UUID> user(Metadata headers) {
    return Optional.ofNullable(headers.get(AUTHORIZATION))
        .filter(value -> value.startsWith(SCHEME))
        .flatMap(value -> parse(value.substring(SCHEME.length()).strip()));
  }

  private static Optional<UUID> parse(String user) {
    try {
      return Optional.of(UUID.fromString(user));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  private static <ReqT, RespT> ServerCall.Listener<ReqT> refuse(
      ServerCall<ReqT, RespT> call, Status status) {
    call.close(status, new Metadata());
    return new ServerCall.Listener<>() {};
  }
}
