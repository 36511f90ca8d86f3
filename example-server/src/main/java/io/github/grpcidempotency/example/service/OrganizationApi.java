package io.github.grpcidempotency.example.service;

import io.github.grpcidempotency.event.IdempotencyListener;
import io.github.grpcidempotency.example.service.background.Parts;
import io.github.grpcidempotency.example.service.caller.BearerStandIn;
import io.github.grpcidempotency.example.service.caller.CurrentCaller;
import io.github.grpcidempotency.example.service.organization.ApiKeyService;
import io.github.grpcidempotency.example.service.organization.ClusterService;
import io.github.grpcidempotency.example.service.organization.InviteService;
import io.github.grpcidempotency.example.service.organization.NamespaceService;
import io.github.grpcidempotency.example.service.organization.OrganizationProcedures;
import io.github.grpcidempotency.example.service.organization.ProjectService;
import io.github.grpcidempotency.example.service.outbox.Outbox;
import io.github.grpcidempotency.example.service.outbox.OutboxWorker;
import io.github.grpcidempotency.example.service.tenant.Tenant;
import io.github.grpcidempotency.grpc.IdempotencyInterceptor;
import io.github.grpcidempotency.longrunning.LongRunningOperations;
import io.github.grpcidempotency.micrometer.DatabaseMetrics;
import io.github.grpcidempotency.postgres.ClaimJdbi;
import io.github.grpcidempotency.postgres.ExpirySweeper;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import io.github.grpcidempotency.procedure.Procedures;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import java.util.List;
import java.util.Optional;
import javax.sql.DataSource;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.statement.StatementExceptions;

/**
 * The whole service: its five gRPC services behind the library's interceptor, and its background
 * work. The caller provides the connection pools and the server, and starts the server.
 */
public final class OrganizationApi implements AutoCloseable {
  private final Settings settings;
  private final IdempotencyListener listener;
  private final Tenant tenant;
  private final Parts parts = new Parts();
  private final PostgresIdempotencyStore store;
  private final Procedures procedures;
  private Optional<IdempotencyInterceptor> interceptor = Optional.empty();

  private OrganizationApi(DataSource pool, Settings settings, IdempotencyListener listener) {
    this.settings = settings;
    this.listener = listener;
    this.tenant =
        new Tenant(
            withholdingValues(Jdbi.create(pool)),
            withholdingValues(ClaimJdbi.create()),
            new Outbox(settings.outboxDelay()));
    this.store =
        parts.start(() -> PostgresIdempotencyStore.builder(pool).lease(settings.lease()).build());
    this.procedures = OrganizationProcedures.of(tenant, settings.secrets());
  }

  /**
   * Adds the service to a server, after the library has checked the database.
   *
   * @param pool of the application's role
   * @param listener receives the library's events
   * @throws IllegalStateException if the library's check finds problems; lists all of them
   * @throws io.github.grpcidempotency.store.StoreException if the database cannot be reached
   */
  public static OrganizationApi addTo(
      ServerBuilder<?> server, DataSource pool, Settings settings, IdempotencyListener listener) {
    OrganizationApi api = new OrganizationApi(pool, settings, listener);
    try {
      api.addTo(server);
      return api;
    } catch (RuntimeException e) {
      api.close();
      throw e;
    }
  }

  private void addTo(ServerBuilder<?> server) {
    IdempotencyInterceptor idempotency =
        parts.start(
            () ->
                IdempotencyInterceptor.builder(procedures, CurrentCaller::find)
                    .store(store)
                    .listener(listener)
                    .keyHashSecret(settings.logSecret().toByteArray())
                    .build());
    interceptor = Optional.of(idempotency);
    server
        .addServices(
            List.of(
                new ProjectService(tenant).bindService(),
                new ClusterService(tenant, settings.cloud()).bindService(),
                new NamespaceService(tenant).bindService(),
                new ApiKeyService(tenant).bindService(),
                new InviteService(tenant).bindService()))
        .addService(idempotency.recovery())
        .addService(LongRunningOperations.of(idempotency))
        .intercept(idempotency)
        .intercept(new BearerStandIn()); // added last, so it runs first: it finds the caller
  }

  /**
   * Starts the background work of every server: it drains the outbox and sweeps expired records.
   *
   * @param worker a pool of the worker's role
   */
  public void startBackgroundWork(DataSource worker) {
    parts.start(() -> OutboxWorker.start(withholdingValues(Jdbi.create(worker))));
    parts.start(
        () ->
            ExpirySweeper.builder(store)
                .interval(settings.sweepInterval())
                .listener(listener)
                .build()
                .start());
  }

  /** Adds the work behind the service's answers to the metrics of its database. */
  public DatabaseMetrics.Builder addWorkTo(DatabaseMetrics.Builder metrics) {
    return metrics.work(store, procedures);
  }

  /** Keeps values out of the messages of failed statements, because they are logged. */
  private static Jdbi withholdingValues(Jdbi jdbi) {
    return jdbi.configure(
        StatementExceptions.class,
        config -> config.setMessageRendering(StatementExceptions.MessageRendering.NONE));
  }

  /** Stops the server of the service. Clients can retry the calls that it does not answer. */
  public void drain(Server server) {
    interceptor.ifPresent(idempotency -> idempotency.drain(settings.grace(), server));
  }

  /** Stops the background work. Calls must have ended. */
  @Override
  public void close() {
    parts.close();
  }
}
