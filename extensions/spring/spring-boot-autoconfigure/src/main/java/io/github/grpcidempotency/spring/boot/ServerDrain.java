package io.github.grpcidempotency.spring.boot;

import io.github.grpcidempotency.grpc.IdempotencyInterceptor;
import io.grpc.Server;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.context.ApplicationListener;
import org.springframework.core.env.Environment;
import org.springframework.grpc.server.lifecycle.GrpcServerLifecycleEvent;
import org.springframework.grpc.server.lifecycle.GrpcServerShutdownEvent;
import org.springframework.grpc.server.lifecycle.GrpcServerStartedEvent;

/**
 * Stops the gRPC servers of the context through the interceptor, so that clients can retry the
 * calls that were not answered yet. Spring emits the shutdown event before it stops the server, and
 * finds the server terminated.
 */
final class ServerDrain implements ApplicationListener<GrpcServerLifecycleEvent> {
  private static final Duration FOREVER = Duration.ofDays(365);

  /** Ends before a platform kills the process after 30 seconds, as Kubernetes does. */
  private static final String DEFAULT_GRACE = "25s";

  private final IdempotencyInterceptor interceptor;
  private final Duration grace;
  private final Set<Server> started = ConcurrentHashMap.newKeySet();

  /**
   * Creates the listener.
   *
   * @param grace the maximum time for calls to finish; a negative value means no limit
   */
  ServerDrain(IdempotencyInterceptor interceptor, Duration grace) {
    this.interceptor = interceptor;
    this.grace = grace.isNegative() ? FOREVER : grace;
  }

  /** Returns the grace of the server, which Boot 3.5 and 4.1 name differently. */
  static Duration grace(Environment environment) {
    String grace =
        environment.getProperty(
            "spring.grpc.server.shutdown.grace-period",
            environment.getProperty("spring.grpc.server.shutdown-grace-period", DEFAULT_GRACE));
    return DurationStyle.detectAndParse(grace, ChronoUnit.SECONDS);
  }

  @Override
  public void onApplicationEvent(GrpcServerLifecycleEvent event) {
    if (event instanceof GrpcServerStartedEvent) {
      started.add(event.getServer());
    } else if (event instanceof GrpcServerShutdownEvent && started.contains(event.getServer())) {
      Server[] servers = started.toArray(Server[]::new);
      started.clear();
      interceptor.drain(grace, servers);
    }
  }
}
