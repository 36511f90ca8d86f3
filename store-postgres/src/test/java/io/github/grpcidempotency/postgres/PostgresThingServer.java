package io.github.grpcidempotency.postgres;

import static io.github.grpcidempotency.resource.IdempotencyStatus.COMPLETED;
import static io.github.grpcidempotency.resource.IdempotencyStatus.FAILED;
import static io.github.grpcidempotency.resource.IdempotencyStatus.PROCESSING;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.event.IdempotencyListener;
import io.github.grpcidempotency.postgres.spi.HostTransactions;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.OutagePolicy;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.ProcedureBuilder;
import io.github.grpcidempotency.resource.OutboxQuery;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.thing.ThingHandler;
import io.github.grpcidempotency.thing.ThingServer;
import io.github.grpcidempotency.thing.Transport;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;

/** A {@link ThingServer} on loopback whose store and handlers use PostgreSQL. */
final class PostgresThingServer {
  /** The newest entry of a thing's outbox. */
  static final String OUTBOX_QUERY =
      "SELECT status FROM app.outbox WHERE thing_id = :resource_id ORDER BY id DESC LIMIT 1";

  private PostgresThingServer() {}

  /** Starts the settings of a server whose store and handlers use one pool. */
  static Builder on(DataSource pool) {
    return new Builder(pool);
  }

  /** Returns a pool of the kind that a service has, but quick to say that the database is out. */
  static HikariDataSource pool(String jdbcUrl) {
    return pool(jdbcUrl, Duration.ofSeconds(1));
  }

  /** Opens a pool that waits so long for a connection. */
  static HikariDataSource pool(String jdbcUrl, Duration patience) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(jdbcUrl);
    config.addDataSourceProperty("socketTimeout", "3");
    config.setMaximumPoolSize(10);
    config.setMinimumIdle(0);
    config.setIdleTimeout(10_000);
    config.setConnectionTimeout(patience.toMillis());
    config.setInitializationFailTimeout(-1);
    return new HikariDataSource(config);
  }

  /**
   * Runs a server in this JVM: with a JDBC URL, the lease in milliseconds, and {@code
   * transactional} if its handler is.
   */
  @SuppressWarnings("SystemOut") // the test that started this process reads it
  public static void main(String[] arguments) throws InterruptedException {
    HikariDataSource pool = pool(arguments[0], Duration.ofSeconds(10));
    Builder builder = on(pool).lease(Duration.ofMillis(Long.parseLong(arguments[1])));
    if (List.of(arguments).contains("transactional")) {
      builder.transactional();
    }
    ThingServer server = builder.start();
    System.out.println("port " + server.port());
    server.server().awaitTermination();
  }

  /** Settings of a server. */
  static final class Builder {
    private DataSource store;
    private int smallestBatch = 2;
    private final DataSource handlers;
    private Optional<DataSource> connections = Optional.empty();
    private Optional<HostTransactions> hostTransactions = Optional.empty();
    private Duration lease = Duration.ofMinutes(5);
    private boolean listen = true;
    private OutagePolicy otherOutage = OutagePolicy.FAIL_OPEN;
    private Optional<IdempotencyListener> listener = Optional.empty();
    private OutboxQuery.Builder outbox =
        OutboxQuery.of(OUTBOX_QUERY)
            .map(PROCESSING, "pending", "retrying")
            .map(COMPLETED, "done")
            .map(FAILED, "failed");
    private UnaryOperator<ProcedureBuilder<Thing>> createThing = UnaryOperator.identity();
    private UnaryOperator<ProcedureBuilder<Thing>> createOther = UnaryOperator.identity();
    private boolean resource = true;
    private boolean withServices;
    private Optional<Duration> callLimit = Optional.empty();
    private Optional<ThingHandler> handler = Optional.empty();

    private Builder(DataSource pool) {
      this.store = pool;
      this.handlers = pool;
    }

    /** Gives the store a separate pool; only the handlers keep the first. */
    Builder store(DataSource pool) {
      this.store = pool;
      return this;
    }

    /** Gives the store the pool for its own statements. */
    Builder connections(DataSource pool) {
      this.connections = Optional.of(pool);
      return this;
    }

    /** Lets transactional calls run in transactions of the host. */
    Builder hostTransactions(HostTransactions transactions) {
      this.hostTransactions = Optional.of(transactions);
      return this;
    }

    /** Sets the lease; if it is not set, it outlasts any test. */
    Builder lease(Duration lease) {
      this.lease = lease;
      return this;
    }

    /** Limits how long a handler may run. */
    Builder callLimit(Duration limit) {
      this.callLimit = Optional.of(limit);
      return this;
    }

    /** Lets every statement that can serve several calls be one that does. */
    Builder batched() {
      this.smallestBatch = 1;
      return this;
    }

    /** Lets the store poll. */
    Builder withoutListening() {
      this.listen = false;
      return this;
    }

    /** Says how {@code CreateOther} fares without a store; it fails open if nothing is said. */
    Builder otherOutage(OutagePolicy policy) {
      this.otherOutage = policy;
      return this;
    }

    /** Asks another outbox, or asks it otherwise. */
    Builder outbox(OutboxQuery.Builder outbox) {
      this.outbox = outbox;
      return this;
    }

    /** Describes {@code CreateThing} without a resource. */
    Builder withoutResource() {
      this.resource = false;
      return this;
    }

    /** Changes the description of {@code CreateThing}. */
    Builder createThing(UnaryOperator<ProcedureBuilder<Thing>> change) {
      UnaryOperator<ProcedureBuilder<Thing>> before = createThing;
      this.createThing = thing -> change.apply(before.apply(thing));
      return this;
    }

    /** Describes {@code CreateOther} otherwise. */
    Builder createOther(UnaryOperator<ProcedureBuilder<Thing>> change) {
      this.createOther = change;
      return this;
    }

    /** Serves recovery and operations as well. */
    Builder withServices() {
      this.withServices = true;
      return this;
    }

    /** Runs {@code CreateThing} in one of the two ways, with a handler that goes with it. */
    Builder execution(Execution execution) {
      createThing(thing -> thing.execution(execution));
      return execution == Execution.TRANSACTIONAL ? handler(ThingHandlers.transactional()) : this;
    }

    /** Describes {@code CreateThing} as transactional, and handles it so. */
    Builder transactional() {
      return transactional(ThingHandlers.transactional());
    }

    /**
     * Describes {@code CreateThing} as transactional, and handles it in a way of the test's own.
     */
    Builder transactional(ThingHandler handler) {
      return createThing(thing -> thing.execution(Execution.TRANSACTIONAL)).handler(handler);
    }

    /** Handles {@code CreateThing} in a way of the test's own. */
    Builder handler(ThingHandler handler) {
      this.handler = Optional.of(handler);
      return this;
    }

    /** Adds a listener. */
    Builder listener(IdempotencyListener listener) {
      this.listener = Optional.of(listener);
      return this;
    }

    ThingServer start() {
      PostgresIdempotencyStore own = newStore();
      ThingServer.Builder server =
          ThingServer.on(Transport.LOOPBACK)
              .store(own)
              .closing(own::close)
              .createThing(this::describeThing)
              .describe(
                  createOther
                      .apply(
                          Procedure.of(ThingServer.CREATE_OTHER)
                              .execution(Execution.RESERVED)
                              .outage(otherOutage))
                      .build())
              .handler(handler.orElseGet(() -> ThingHandlers.on(handlers)))
              .otherHandler(ThingHandler::answer);
      listener.ifPresent(server::listener);
      callLimit.ifPresent(limit -> server.settings(builder -> builder.callLimit(limit)));
      if (withServices) {
        server.withServices();
      }
      return (resource ? server : server.withoutResource()).start();
    }

    private PostgresIdempotencyStore newStore() {
      PostgresIdempotencyStore.Builder built =
          PostgresIdempotencyStore.builder(store)
              .smallestBatch(smallestBatch)
              .through(HeldConnections::of)
              .lease(lease)
              .listen(listen);
      connections.ifPresent(built::connections);
      hostTransactions.ifPresent(built::hostTransactions);
      return built.build();
    }

    private ProcedureBuilder<Thing> describeThing(ProcedureBuilder<Thing> thing) {
      return createThing.apply(resource ? thing.status(outbox.build()) : thing);
    }
  }
}
