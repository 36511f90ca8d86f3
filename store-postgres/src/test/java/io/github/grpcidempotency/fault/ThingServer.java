package io.github.grpcidempotency.fault;

import static io.github.grpcidempotency.procedure.IdempotencyStatus.COMPLETED;
import static io.github.grpcidempotency.procedure.IdempotencyStatus.FAILED;
import static io.github.grpcidempotency.procedure.IdempotencyStatus.PROCESSING;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.grpc.IdempotencyInterceptor;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.postgres.OutboxStatusResolver;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.OutagePolicy;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.ProcedureBuilder;
import io.github.grpcidempotency.procedure.Procedures;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.testing.v1.ThingServiceGrpc;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * One server of the things' service on loopback, put together as a host would: {@code CreateThing}
 * writes a thing and its outbox entry, {@code CreateOther} needs no database at all.
 */
public final class ThingServer implements AutoCloseable {
  static final Metadata.Key<String> USER = header("user");
  static final Metadata.Key<String> NAMESPACE = header("namespace");

  static final Context.Key<Caller> CALLER = Context.key("caller");

  /** The newest entry of a thing's outbox. */
  public static final String OUTBOX_QUERY =
      "SELECT status FROM app.outbox WHERE thing_id = :resource_id ORDER BY id DESC LIMIT 1";

  private final Server server;
  private final IdempotencyInterceptor interceptor;
  private final ThingService service;
  private final Events events;

  private ThingServer(Builder builder) {
    this.events = new Events(builder.printer);
    this.service = new ThingService(builder.handler(), builder.printer);
    this.interceptor =
        IdempotencyInterceptor.builder(
                builder.procedures(), () -> Optional.ofNullable(CALLER.get()))
            .store(builder.newStore())
            .listener(events)
            .build();
    this.server =
        NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .addService(service)
            .intercept(interceptor)
            .intercept(new Authentication())
            .build();
  }

  /** Starts a server whose store and handlers use one pool. */
  public static Builder on(DataSource pool) {
    return new Builder(pool);
  }

  /** Returns a pool of the kind that a service has, but quick to say that the database is out. */
  public static HikariDataSource pool(String jdbcUrl) {
    return pool(jdbcUrl, Duration.ofSeconds(1));
  }

  private static HikariDataSource pool(String jdbcUrl, Duration patience) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(jdbcUrl);
    config.addDataSourceProperty("socketTimeout", "3");
    config.setMaximumPoolSize(10);
    config.setMinimumIdle(0);
    config.setConnectionTimeout(patience.toMillis());
    config.setInitializationFailTimeout(-1);
    return new HikariDataSource(config);
  }

  /**
   * Runs a server in this JVM: with a JDBC URL, the lease in milliseconds, and how it joins effect
   * and record: {@code transactional}, {@code completing}, or not at all.
   */
  @SuppressWarnings("SystemOut") // the test that started this process reads it
  public static void main(String[] arguments) throws InterruptedException {
    HikariDataSource pool = pool(arguments[0], Duration.ofSeconds(10));
    Builder builder =
        ThingServer.on(pool)
            .lease(Duration.ofMillis(Long.parseLong(arguments[1])))
            .printer(System.out::println);
    List<String> joining = List.of(arguments).subList(2, arguments.length);
    if (joining.contains("transactional")) {
      builder.transactional();
    }
    if (joining.contains("completing")) {
      builder.handler(ThingHandler.completing(pool));
    }
    ThingServer server = builder.start();
    System.out.println("port " + server.port());
    server.server.awaitTermination();
  }

  /** Returns who calls the handler that runs on this thread. */
  public static Caller caller() {
    return CALLER.get();
  }

  /** Returns the port it listens on. */
  public int port() {
    return server.getPort();
  }

  /** Returns how often a handler was run. */
  public int runs() {
    return service.runs();
  }

  /** Returns what the interceptor told of so far, by the names of the listener's methods. */
  public List<String> events() {
    return events.soFar();
  }

  @Override
  public void close() {
    server.shutdownNow();
    interceptor.close();
  }

  private static Metadata.Key<String> header(String name) {
    return Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER);
  }

  /** Believes whatever user the client says it is. */
  private static final class Authentication implements ServerInterceptor {
    @Override
    public <RequestT, ResponseT> ServerCall.Listener<RequestT> interceptCall(
        ServerCall<RequestT, ResponseT> call,
        Metadata headers,
        ServerCallHandler<RequestT, ResponseT> next) {
      String user = headers.get(USER);
      if (user == null) {
        return next.startCall(call, headers);
      }
      String namespace = headers.get(NAMESPACE);
      Caller caller = caller(user, namespace);
      return Contexts.interceptCall(
          Context.current().withValue(CALLER, caller), call, headers, next);
    }
  }

  /** A namespace is a tenant, or tenant and project with the first slash between. */
  private static Caller caller(String user, @Nullable String namespace) {
    Caller caller = Caller.of(UUID.fromString(user));
    if (namespace == null) {
      return caller;
    }
    int slash = namespace.indexOf('/');
    String tenant = slash < 0 ? namespace : namespace.substring(0, slash);
    String project = slash < 0 ? "" : namespace.substring(slash + 1);
    Caller inTenant = tenant.isEmpty() ? caller : caller.inTenant(tenant);
    return project.isEmpty() ? inTenant : inTenant.inProject(project);
  }

  /** Settings of a server. */
  public static final class Builder {
    private DataSource store;
    private final DataSource handlers;
    private Optional<DataSource> maintenance = Optional.empty();
    private Duration lease = Duration.ofSeconds(30);
    private OutagePolicy otherOutage = OutagePolicy.FAIL_OPEN;
    private OutboxStatusResolver.Builder outbox =
        OutboxStatusResolver.query(OUTBOX_QUERY)
            .map(PROCESSING, "pending", "retrying")
            .map(COMPLETED, "done")
            .map(FAILED, "failed");
    private UnaryOperator<ProcedureBuilder<Thing>> createThing = UnaryOperator.identity();
    private UnaryOperator<ProcedureBuilder<Thing>> createOther = UnaryOperator.identity();
    private boolean resource = true;
    private Optional<ThingHandler> handler = Optional.empty();
    private Consumer<String> printer = line -> {};

    private Builder(DataSource pool) {
      this.store = pool;
      this.handlers = pool;
    }

    /** Gives the store a pool of its own; only the handlers keep the first. */
    public Builder store(DataSource pool) {
      this.store = pool;
      return this;
    }

    /** Gives the store a pool beside that for its own needs. */
    public Builder maintenance(DataSource pool) {
      this.maintenance = Optional.of(pool);
      return this;
    }

    /** Sets the lease; if it is not set, it outlasts any test. */
    public Builder lease(Duration lease) {
      this.lease = lease;
      return this;
    }

    /** Says how {@code CreateOther} fares without a store; it fails open if nothing is said. */
    public Builder otherOutage(OutagePolicy policy) {
      this.otherOutage = policy;
      return this;
    }

    /** Asks another outbox, or asks it otherwise. */
    public Builder outbox(OutboxStatusResolver.Builder outbox) {
      this.outbox = outbox;
      return this;
    }

    /** Describes {@code CreateThing} as one whose record refers to nothing. */
    public Builder withoutResource() {
      this.resource = false;
      return this;
    }

    /** Describes {@code CreateThing} otherwise. */
    public Builder createThing(UnaryOperator<ProcedureBuilder<Thing>> change) {
      this.createThing = change;
      return this;
    }

    /** Describes {@code CreateOther} otherwise. */
    public Builder createOther(UnaryOperator<ProcedureBuilder<Thing>> change) {
      this.createOther = change;
      return this;
    }

    /** Runs {@code CreateThing} in one of the three ways, with a handler that goes with it. */
    public Builder execution(Execution execution) {
      UnaryOperator<ProcedureBuilder<Thing>> before = createThing;
      createThing(thing -> before.apply(thing).execution(execution));
      return execution == Execution.TRANSACTIONAL ? handler(ThingHandler.transactional()) : this;
    }

    /** Describes {@code CreateThing} as transactional, and handles it so. */
    public Builder transactional() {
      return transactional(ThingHandler.transactional());
    }

    /**
     * Describes {@code CreateThing} as transactional, and handles it in a way of the test's own.
     */
    public Builder transactional(ThingHandler handler) {
      UnaryOperator<ProcedureBuilder<Thing>> before = createThing;
      return createThing(thing -> before.apply(thing).execution(Execution.TRANSACTIONAL))
          .handler(handler);
    }

    /** Handles {@code CreateThing} in a way of the test's own. */
    public Builder handler(ThingHandler handler) {
      this.handler = Optional.of(handler);
      return this;
    }

    /** Says who is given a line for every event. */
    Builder printer(Consumer<String> printer) {
      this.printer = printer;
      return this;
    }

    /** Starts the server. */
    public ThingServer start() {
      ThingServer server = new ThingServer(this);
      try {
        server.server.start();
      } catch (IOException failure) {
        throw new UncheckedIOException(failure);
      }
      return server;
    }

    private PostgresIdempotencyStore newStore() {
      PostgresIdempotencyStore.Builder built = PostgresIdempotencyStore.builder(store).lease(lease);
      maintenance.ifPresent(built::maintenance);
      return built.build();
    }

    private ThingHandler handler() {
      return handler.orElseGet(() -> ThingHandler.on(handlers));
    }

    private ProcedureBuilder<Thing> describeThing() {
      return resource
          ? Procedure.annotated(ThingServiceGrpc.getCreateThingMethod()).status(outbox.build())
          : Procedure.of(ThingServiceGrpc.getCreateThingMethod());
    }

    private Procedures procedures() {
      return Procedures.of(
          createThing.apply(describeThing()).build(),
          createOther
              .apply(Procedure.of(ThingServiceGrpc.getCreateOtherMethod()).outage(otherOutage))
              .build());
    }
  }
}
