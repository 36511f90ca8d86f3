package io.github.grpcidempotency.client;

import io.grpc.MethodDescriptor;
import io.grpc.ServiceDescriptor;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * A ready service config, with which gRPC itself sends calls again (gRFC A6):
 *
 * <pre>{@code
 * channelBuilder
 *     .intercept(IdempotencyClientInterceptor.create())
 *     .defaultServiceConfig(ServiceConfigs.of(OrderServiceGrpc.getServiceDescriptor()))
 * }</pre>
 *
 * <p>It applies only to unary methods whose option says that they take keys: a call without a key
 * must not be sent twice. It contains:
 *
 * <ul>
 *   <li>Two codes. {@code UNAVAILABLE}: the call or its answer may be lost. {@code ABORTED}: the
 *       first call is still running, or its outcome is not known yet. With {@code
 *       grpc-retry-pushback-ms} a server can ask for an attempt after any code, or forbid it; gRPC
 *       obeys.
 *   <li>Five attempts, the first included. That is gRPC's limit: a larger number in a service
 *       config counts as five, so that a config cannot multiply the load of an outage.
 *   <li>Waits of 0.1, 0.3, 0.9 and 2.7 seconds, each more or less random, unless the server names
 *       one.
 *   <li>One deadline for all attempts of the call: {@code DEADLINE_EXCEEDED} ends it.
 * </ul>
 *
 * <p><b>An error of the handler frees its key</b>, unless its procedure says otherwise: a handler
 * that sends a mail and then answers {@code UNAVAILABLE} sends one with each of the five attempts.
 * Let such a procedure be {@code TRANSACTIONAL} and write the mail to an outbox, or let its failure
 * policy name the code as unknown, or give the other service an outbound key.
 *
 * <p>For more attempts, or for hours of retries, use {@link RetryingCaller}.
 */
public final class ServiceConfigs {
  /** Numbers are doubles and durations text, because gRPC takes the config for parsed JSON. */
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
   * @throws IllegalArgumentException if none of their methods has the option
   */
  public static Map<String, Object> of(ServiceDescriptor... services) {
    List<Map<String, Object>> names =
        Arrays.stream(services)
            .flatMap(service -> service.getMethods().stream())
            .filter(KeyPlan::takesKey)
            .map(ServiceConfigs::name)
            .toList();
    if (names.isEmpty()) {
      throw new IllegalArgumentException(
          "no unary method of these services has the option (idempotency.v1.procedure)");
    }
    return Map.of("methodConfig", List.of(Map.of("name", names, "retryPolicy", RETRY_POLICY)));
  }

  private static Map<String, Object> name(MethodDescriptor<?, ?> method) {
    return Map.of(
        "service", String.valueOf(method.getServiceName()),
        "method", String.valueOf(method.getBareMethodName()));
  }
}
