package io.github.grpcidempotency.client;

import io.grpc.MethodDescriptor;
import io.grpc.ServiceDescriptor;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * A service config for gRPC's built-in retries (gRFC A6):
 *
 * <pre>{@code
 * channelBuilder
 *     .intercept(IdempotencyClientInterceptor.create())
 *     .defaultServiceConfig(ServiceConfigs.of(OrderServiceGrpc.getServiceDescriptor()))
 * }</pre>
 *
 * <p>A call without a key must not be sent twice. The config therefore applies only to unary
 * methods with the {@code (idempotency.v1.procedure)} option to whose every call the interceptor
 * adds a key: a header, or a field of the request without presence, accepts a UUID. For calls of
 * other methods, such as those with a key of a pattern or an assigned id only, use {@link
 * RetryingCaller}, which checks each call. The config contains:
 *
 * <ul>
 *   <li>Two codes. {@code UNAVAILABLE}: the call or its answer may be lost. {@code ABORTED}: the
 *       first call is still running, or its outcome is not known yet. With {@code
 *       grpc-retry-pushback-ms}, a server can request another attempt after any code, or prohibit
 *       it.
 *   <li>Five attempts, including the first. This is gRPC's limit; a larger number in a service
 *       config counts as five.
 *   <li>Waits of 0.1, 0.3, 0.9 and 2.7 seconds, with jitter, unless the server sends one.
 *   <li>One deadline for all attempts of the call. After {@code DEADLINE_EXCEEDED} there is no
 *       other attempt.
 * </ul>
 *
 * <p><b>An error of the handler frees its key</b>, unless its procedure has another failure policy:
 * a handler that sends a mail and then answers {@code UNAVAILABLE} sends a mail in each of the five
 * attempts. Make such a procedure {@code TRANSACTIONAL} and write the mail to an outbox, or add the
 * code to the unknown codes of its failure policy, or pass an outbound key to the mail service.
 *
 * <p>For more attempts, or for hours of retries, use {@link RetryingCaller}.
 */
public final class ServiceConfigs {
  /** Numbers are doubles and durations are strings, because gRPC expects parsed JSON. */
  private static final Map<String, Object> RETRY_POLICY =
      Map.of(
          "maxAttempts",
          5.0,
          "initialBackoff",
          "0.1s",
          "maxBackoff",
          "5s",
          "backoffMultiplier",
          3.0,
          "retryableStatusCodes",
          List.of("UNAVAILABLE", "ABORTED"));

  private ServiceConfigs() {}

  /**
   * Returns the config of some services, for {@code ManagedChannelBuilder.defaultServiceConfig}.
   *
   * @throws IllegalArgumentException if none of their methods can be repeated
   */
  public static Map<String, Object> of(ServiceDescriptor... services) {
    List<Map<String, Object>> names =
        Arrays.stream(services)
            .flatMap(service -> service.getMethods().stream())
            .filter(method -> KeyPlan.of(method, false).fitsEveryCall())
            .map(ServiceConfigs::name)
            .toList();
    if (names.isEmpty()) {
      throw new IllegalArgumentException(
          "no unary method of these services has the option (idempotency.v1.procedure) with a"
              + " place for a key that the client can fill in every call");
    }
    return Map.of("methodConfig", List.of(Map.of("name", names, "retryPolicy", RETRY_POLICY)));
  }

  private static Map<String, Object> name(MethodDescriptor<?, ?> method) {
    return Map.of(
        "service", String.valueOf(method.getServiceName()),
        "method", String.valueOf(method.getBareMethodName()));
  }
}
