package io.github.grpcidempotency.example.server;

import io.github.grpcidempotency.example.caller.BearerStandIn;
import io.github.grpcidempotency.example.caller.CurrentCaller;
import io.github.grpcidempotency.example.database.HostDatabase;
import io.github.grpcidempotency.example.database.RightsCheck;
import io.github.grpcidempotency.example.database.StartupFailure;
import io.github.grpcidempotency.example.organization.ApiKeyService;
import io.github.grpcidempotency.example.organization.CloudProvider;
import io.github.grpcidempotency.example.organization.ClusterService;
import io.github.grpcidempotency.example.organization.InviteService;
import io.github.grpcidempotency.example.organization.MemberImport;
import io.github.grpcidempotency.example.organization.NamespaceService;
import io.github.grpcidempotency.example.organization.OrganizationProcedures;
import io.github.grpcidempotency.example.organization.ProjectService;
import io.github.grpcidempotency.example.organization.WebhookService;
import io.github.grpcidempotency.example.outbox.Outbox;
import io.github.grpcidempotency.example.outbox.OutboxWorker;
import io.github.grpcidempotency.example.outbox.RetryPolicy;
import io.github.grpcidempotency.example.tenant.Tenant;
import io.github.grpcidempotency.example.usage.UsageJob;
import io.github.grpcidempotency.example.usage.UsageScheduler;
import io.github.grpcidempotency.example.webhook.WebhookDirectory;
import io.github.grpcidempotency.example.webhook.WebhookKeys;
import io.github.grpcidempotency.grpc.IdempotencyInterceptor;
import io.github.grpcidempotency.key.KeySource;
import io.github.grpcidempotency.postgres.ExpirySweeper;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.work.IdempotentWork;
import io.grpc.Grpc;
import io.grpc.InsecureServerCredentials;
import io.grpc.Server;
import io.grpc.ServerInterceptor;
import io.grpc.protobuf.services.HealthStatusManager;
import io.grpc.protobuf.services.ProtoReflectionServiceV1;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.statement.StatementExceptions;

/** All that serves the organisation API on one migrated database. */
public final class RunningServer implements AutoCloseable {
  private static final long DRAIN_SECONDS = 5;
  private static final Duration CLOUD_DELAY = Duration.ofMillis(300);

  private final Server server;
  private final HealthStatusManager health;
  private final Parts parts;

  private RunningServer(Server server, HealthStatusManager health, Parts parts) {
    this.server = server;
    this.health = health;
    this.parts = parts;
  }

  /**
   * Starts the server.
   *
   * @param database is not closed with the server
   * @throws StartupFailure if the port is in use, or the library finds the database unfit
   */
  public static RunningServer start(Settings settings, HostDatabase database) {
    Parts parts = new Parts();
    try {
      Pools pools = parts.start(() -> Pools.open(database));
      DataSource app = pools.app();
      Tenant tenant = new Tenant(jdbi(app), new Outbox(settings.outboxDelay()));
      PostgresIdempotencyStore store = fit(() -> store(settings, app));
      KeySource webhookKeys = new WebhookKeys(new WebhookDirectory(jdbi(app)));
      IdempotencyInterceptor idempotency =
          parts.start(() -> fit(() -> idempotency(settings, tenant, webhookKeys, store)));
      IdempotentWork work =
          parts.start(() -> fit(() -> IdempotentWork.on(store, MemberImport.LINE)));
      RightsCheck.run(app, pools.worker());
      parts.start(() -> OutboxWorker.start(jdbi(pools.worker()), RetryPolicy.threeAttempts()));
      parts.start(() -> ExpirySweeper.builder(app).build().start());
      UsageJob usage =
          parts.start(() -> fit(() -> new UsageJob(pools.jobs(), settings.usagePeriod())));
      parts.start(() -> UsageScheduler.start(usage));
      HealthStatusManager health = new HealthStatusManager();
      parts.start(() -> DatabaseHealth.start(pools.health(), health));
      return new RunningServer(serve(settings, tenant, idempotency, work, health), health, parts);
    } catch (RuntimeException e) {
      parts.close();
      throw e;
    }
  }

  /** What a failed statement says of itself goes into logs, so it names no values. */
  private static Jdbi jdbi(DataSource pool) {
    Jdbi jdbi = Jdbi.create(pool);
    keepValuesToItself(jdbi);
    return jdbi;
  }

  private static void keepValuesToItself(Jdbi jdbi) {
    jdbi.configure(
        StatementExceptions.class,
        config -> config.setMessageRendering(StatementExceptions.MessageRendering.NONE));
  }

  private static PostgresIdempotencyStore store(Settings settings, DataSource pool) {
    return PostgresIdempotencyStore.builder(pool)
        .lease(settings.lease())
        .jdbi(RunningServer::keepValuesToItself)
        .build();
  }

  private static IdempotencyInterceptor idempotency(
      Settings settings, Tenant tenant, KeySource webhookKeys, PostgresIdempotencyStore store) {
    return IdempotencyInterceptor.builder(
            OrganizationProcedures.of(
                tenant, settings.retentions(), settings.secrets(), webhookKeys),
            CurrentCaller::find)
        .store(store)
        .build();
  }

  /** What the library finds unfit, it lists; here that becomes the reason for not starting. */
  private static <T> T fit(Supplier<T> part) {
    try {
      return part.get();
    } catch (IllegalArgumentException | IllegalStateException | StoreException e) {
      throw StartupFailure.because("The server cannot start", e);
    }
  }

  /** The interceptor added last runs first: it finds the caller. */
  private static Server serve(
      Settings settings,
      Tenant tenant,
      ServerInterceptor idempotency,
      IdempotentWork work,
      HealthStatusManager health) {
    try {
      return Grpc.newServerBuilderForPort(settings.port(), InsecureServerCredentials.create())
          .addServices(
              List.of(
                  new ProjectService(tenant, new MemberImport(tenant, work)).bindService(),
                  new ClusterService(tenant, new CloudProvider(CLOUD_DELAY)).bindService(),
                  new NamespaceService(tenant).bindService(),
                  new ApiKeyService(tenant).bindService(),
                  new InviteService(tenant).bindService(),
                  new WebhookService(tenant).bindService()))
          .addService(health.getHealthService())
          .addService(ProtoReflectionServiceV1.newInstance())
          .intercept(idempotency)
          .intercept(new BearerStandIn())
          .build()
          .start();
    } catch (IOException e) {
      throw StartupFailure.because("The server cannot listen on port " + settings.port(), e);
    }
  }

  public int port() {
    return server.getPort();
  }

  /** Blocks until the server has stopped. */
  public void awaitTermination() throws InterruptedException {
    server.awaitTermination();
  }

  /** Lets running calls finish for some seconds, then stops everything. */
  @Override
  public void close() {
    health.enterTerminalState();
    server.shutdown();
    try {
      if (!server.awaitTermination(DRAIN_SECONDS, TimeUnit.SECONDS)) {
        server.shutdownNow().awaitTermination(DRAIN_SECONDS, TimeUnit.SECONDS);
      }
    } catch (InterruptedException e) {
      server.shutdownNow();
      Thread.currentThread().interrupt();
    }
    parts.close();
  }
}
