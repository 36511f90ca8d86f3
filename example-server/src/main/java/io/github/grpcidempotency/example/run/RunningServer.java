package io.github.grpcidempotency.example.run;

import io.github.grpcidempotency.example.service.OrganizationApi;
import io.github.grpcidempotency.example.service.Settings;
import io.github.grpcidempotency.example.service.background.Parts;
import io.github.grpcidempotency.micrometer.DatabaseMetrics;
import io.github.grpcidempotency.postgres.IdempotencySchema;
import io.grpc.Grpc;
import io.grpc.InsecureServerCredentials;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import io.grpc.protobuf.services.HealthStatusManager;
import io.grpc.protobuf.services.ProtoReflectionServiceV1;
import java.io.IOException;
import java.io.UncheckedIOException;

/** The service on a port, with its database, whose schema is migrated. */
public final class RunningServer implements AutoCloseable {
  private final Server server;
  private final OrganizationApi api;
  private final HealthStatusManager health;
  private final Metrics metrics;
  private final Parts parts;

  private RunningServer(
      Server server,
      OrganizationApi api,
      HealthStatusManager health,
      Metrics metrics,
      Parts parts) {
    this.server = server;
    this.api = api;
    this.health = health;
    this.metrics = metrics;
    this.parts = parts;
  }

  /**
   * Starts the server.
   *
   * @param port 0 for any free port
   * @param metricsPort where Prometheus finds metrics, on this machine only; 0 for any free port
   * @param database is not closed with the server
   * @throws UncheckedIOException if a port is in use
   * @throws IllegalStateException if the library's check finds problems; lists all of them
   */
  public static RunningServer start(
      int port, int metricsPort, Settings settings, Database database) {
    Parts parts = new Parts();
    try {
      Metrics metrics = parts.start(() -> Metrics.serve(metricsPort));
      Pools pools = parts.start(() -> Pools.open(database));
      ServerBuilder<?> server =
          Grpc.newServerBuilderForPort(port, InsecureServerCredentials.create());
      server.intercept(metrics.handlers()); // added first, so it runs last: it sees handlers
      OrganizationApi api =
          parts.start(
              () -> OrganizationApi.addTo(server, pools.app(), settings, metrics.listener()));
      api.startBackgroundWork(pools.worker());
      parts.start(
          () ->
              api.addWorkTo(
                      DatabaseMetrics.builder(
                          metrics.registry(), pools.watch(), IdempotencySchema.DEFAULT_NAME))
                  .every(settings.figuresInterval())
                  .start());
      HealthStatusManager health = new HealthStatusManager();
      parts.start(() -> DatabaseHealth.start(pools.watch(), health));
      server.addService(health.getHealthService());
      server.addService(ProtoReflectionServiceV1.newInstance());
      return new RunningServer(server.build().start(), api, health, metrics, parts);
    } catch (IOException failure) {
      parts.close();
      throw new UncheckedIOException("the server cannot listen on port " + port, failure);
    } catch (RuntimeException failure) {
      parts.close();
      throw failure;
    }
  }

  public int port() {
    return server.getPort();
  }

  public int metricsPort() {
    return metrics.port();
  }

  /** Returns the metrics in the format of Prometheus. */
  public String samples() {
    return metrics.samples();
  }

  /** Blocks until the server has stopped. */
  public void awaitTermination() throws InterruptedException {
    server.awaitTermination();
  }

  /** Lets running calls finish for some seconds, then stops everything. */
  @Override
  public void close() {
    health.enterTerminalState();
    api.drain(server);
    parts.close();
  }
}
