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
 * The interceptor as the server has it: at its place in the order, and with the mapping of
 * exceptions between it and the handler. Spring maps exceptions further out, where the client's
 * status is made; the same mapping must be heard here, because this is the status that is recorded.
 */
final class RegisteredInterceptor implements ServerInterceptor, Ordered {
  private final IdempotencyInterceptor interceptor;
  private final Optional<ServerInterceptor> exceptionMapping;
  private final Predicate<String> maps;
  private final int order;

  /**
   * Makes the interceptor.
   *
   * @param exceptionMapping what maps the exceptions of handlers
   * @param maps tells the methods whose exceptions are mapped, by their full names
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
            ? (inner, received) ->
                exceptionMapping.get().interceptCall(inner, received, new QuietlyPreempted<>(next))
            : next;
    return interceptor.interceptCall(call, headers, handler);
  }
}
