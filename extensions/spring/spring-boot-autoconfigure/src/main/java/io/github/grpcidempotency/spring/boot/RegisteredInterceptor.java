package io.github.grpcidempotency.spring.boot;

import io.github.grpcidempotency.grpc.IdempotencyInterceptor;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import java.util.Optional;
import java.util.function.Predicate;
import org.springframework.core.Ordered;

/**
 * The interceptor as it is registered with the server: with its order, and with the mapping of
 * exceptions between the interceptor and the handler. Spring maps exceptions further outside, for
 * the client's status. The same mapping is needed here, because the interceptor records the status.
 */
final class RegisteredInterceptor implements ServerInterceptor, Ordered {
  private final IdempotencyInterceptor interceptor;
  private final Optional<ServerInterceptor> exceptionMapping;
  private final Predicate<String> maps;
  private final int order;

  /**
   * Creates the interceptor.
   *
   * @param exceptionMapping maps the exceptions of handlers
   * @param maps returns whether the exceptions of a method are mapped; takes the method's full name
   */
  RegisteredInterceptor(
      IdempotencyInterceptor interceptor,
      Optional<ServerInterceptor> exceptionMapping,
      Predicate<String> maps,
      int order) {
    this.interceptor = interceptor;
    this.exceptionMapping = exceptionMapping;
    this.maps = maps;
    this.order = order;
  }

  @Override
  public int getOrder() {
    return order;
  }

  @Override
  public <RequestT, ResponseT> ServerCall.Listener<RequestT> interceptCall(
      ServerCall<RequestT, ResponseT> call,
      Metadata headers,
      ServerCallHandler<RequestT, ResponseT> next) {
    ServerCallHandler<RequestT, ResponseT> handler =
        exceptionMapping.isPresent() && maps.test(call.getMethodDescriptor().getFullMethodName())
            ? (inner, received) -> exceptionMapping.get().interceptCall(inner, received, next)
            : next;
    return interceptor.interceptCall(call, headers, handler);
  }
}
