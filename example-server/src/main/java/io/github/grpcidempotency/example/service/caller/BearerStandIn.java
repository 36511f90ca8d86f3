package io.github.grpcidempotency.example.service.caller;

import com.google.common.collect.ImmutableList;
import io.github.grpcidempotency.key.Caller;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * <b>A stand-in for authentication, not authentication:</b> it accepts every caller that sends
 * {@code authorization: Bearer <user uuid>}. A real service verifies a token here. The library
 * needs the same in both cases: the caller in the gRPC {@link Context} before its interceptor runs.
 *
 * <p>An optional {@code organization} becomes the caller's tenant, and an optional {@code project}
 * its project. A key of one tenant or project is unknown in all others, and so are the resources of
 * another organization. Without these headers, a call belongs to no organization, or to no project.
 *
 * <p>Health and reflection are open to everybody.
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

  @Override
  public <ReqT, RespT> ServerCall.Listener<ReqT> interceptCall(
      ServerCall<ReqT, RespT> call, Metadata headers, ServerCallHandler<ReqT, RespT> next) {
    if (OPEN_SERVICES.contains(String.valueOf(call.getMethodDescriptor().getServiceName()))) {
      return next.startCall(call, headers);
    }
    Optional<UUID> user = user(headers);
    if (user.isEmpty()) {
      return refuse(
          call,
          Status.UNAUTHENTICATED.withDescription("send authorization: Bearer <user uuid>, once"));
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

  private static Caller inOrganization(Caller caller, Metadata headers) {
    return only(ORGANIZATION, headers).map(caller::inTenant).orElse(caller);
  }

  private static Caller inProject(Caller caller, Metadata headers) {
    return only(PROJECT, headers).map(caller::inProject).orElse(caller);
  }

  private static Optional<UUID> user(Metadata headers) {
    try {
      return only(AUTHORIZATION, headers)
          .filter(value -> value.startsWith(SCHEME))
          .map(value -> UUID.fromString(value.substring(SCHEME.length()).strip()));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  /**
   * Returns the value of a header. Two values are refused, because a proxy in front of this server
   * may have checked the other one.
   *
   * @throws IllegalArgumentException if there are two
   */
  private static Optional<String> only(Metadata.Key<String> header, Metadata headers) {
    Iterable<String> values = headers.getAll(header);
    List<String> said = values == null ? List.of() : ImmutableList.copyOf(values);
    if (said.size() > 1) {
      throw new IllegalArgumentException("send " + header.name() + " once");
    }
    return said.stream().findFirst();
  }

  private static <ReqT, RespT> ServerCall.Listener<ReqT> refuse(
      ServerCall<ReqT, RespT> call, Status status) {
    call.close(status, new Metadata());
    return new ServerCall.Listener<>() {};
  }
}
