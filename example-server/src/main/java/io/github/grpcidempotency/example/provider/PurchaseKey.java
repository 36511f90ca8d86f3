package io.github.grpcidempotency.example.provider;

import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import java.util.Optional;
import java.util.UUID;

/** The key that a purchase comes with. */
final class PurchaseKey implements ServerInterceptor {
  private static final Metadata.Key<String> HEADER =
      Metadata.Key.of("idempotency-key", Metadata.ASCII_STRING_MARSHALLER);
  private static final Context.Key<String> CURRENT = Context.key("idempotency-key");

  /**
   * Returns the key of the current call.
   *
   * @throws io.grpc.StatusRuntimeException if there is none, or it is not a UUID
   */
  static UUID current() {
    try {
      return UUID.fromString(Optional.ofNullable(CURRENT.get()).orElse(""));
    } catch (IllegalArgumentException malformed) {
      throw Status.INVALID_ARGUMENT
          .withDescription("a purchase needs an idempotency-key, a UUID")
          .asRuntimeException();
    }
  }

  @Override
  public <RequestT, ResponseT> ServerCall.Listener<RequestT> interceptCall(
      ServerCall<RequestT, ResponseT> call,
      Metadata headers,
      ServerCallHandler<RequestT, ResponseT> next) {
    String key = Optional.ofNullable(headers.get(HEADER)).orElse("");
    return Contexts.interceptCall(Context.current().withValue(CURRENT, key), call, headers, next);
  }
}
