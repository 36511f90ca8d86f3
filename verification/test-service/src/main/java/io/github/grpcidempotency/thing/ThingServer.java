package io.github.grpcidempotency.thing;

import com.google.longrunning.OperationsGrpc;
import com.google.protobuf.Empty;
import io.github.grpcidempotency.event.IdempotencyEvent.Kind;
import io.github.grpcidempotency.event.IdempotencyListener;
import io.github.grpcidempotency.grpc.IdempotencyInterceptor;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.longrunning.LongRunningOperations;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.ProcedureBuilder;
import io.github.grpcidempotency.procedure.Procedures;
import io.github.grpcidempotency.shard.Shards;
import io.github.grpcidempotency.spi.IdempotencyStore;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.DeleteThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.testing.v1.ThingServiceGrpc;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A server of the {@link ThingService} behind the interceptor, set up as a host would do it. */
public final class ThingServer implements AutoCloseable {
  public static final MethodDescriptor<CreateThingRequest, Thing> CREATE_THING =
      ThingServiceGrpc.getCreateThingMethod();
  public static final MethodDescriptor<CreateThingRequest, Thing> CREATE_OTHER =
      ThingServiceGrpc.getCreateOtherMethod();
  public static final MethodDescriptor<CreateThingRequest, Thing> CREATE_MANY =
      ThingServiceGrpc.getCreateManyMethod();

  public static final MethodDescriptor<DeleteThingRequest, Empty> DELETE_THING =
      ThingServiceGrpc.getDeleteThingMethod();

  /** The caller's id, as the client sends it. */
  public static final Metadata.Key<String> USER = header("user");

  /** A tenant, or tenant and project separated by a slash; either may be empty. */
  public static final Metadata.Key<String> NAMESPACE = header("namespace");

  /** The caller, as set by authentication. */
  public static final Context.Key<Caller> CALLER = Context.key("caller");

  private final ThingService things;
  private final EventJournal journal = new EventJournal();
  private final Optional<IdempotencyInterceptor> interceptor;
  private final Server server;
  private final ManagedChannel channel;
  private final List<Runnable> closedLast;
  private final AtomicInteger waits = new AtomicInteger();

  private ThingServer(Builder builder) {
    this.closedLast = List.copyOf(builder.closedLast);
    this.things = new ThingService(builder.handler, builder.otherHandler);
    this.interceptor = builder.interceptor(journal.listener());
    List<ServerInterceptor> outermostFirst = new ArrayList<>(builder.outside);
    outermostFirst.add(new Authentication());
    interceptor.ifPresent(outermostFirst::add);
    outermostFirst.addAll(builder.inside);
    ServerBuilder<?> services =
        builder
            .transport
            .newServer()
            .addService(ServerInterceptors.interceptForward(things, outermostFirst));
    if (builder.withServices) {
      List<ServerInterceptor> outside = new ArrayList<>(builder.outside);
      outside.add(new Authentication());
      outside.add(new Waits());
      interceptor.stream()
          .flatMap(present -> Stream.of(present.recovery(), LongRunningOperations.of(present)))
          .map(service -> ServerInterceptors.interceptForward(service, outside))
          .forEach(services::addService);
    }
    this.server = services.build();
    try {
      server.start();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
    this.channel = builder.transport.connect(server);
  }

  /** Returns a builder of a server without a store, whose handlers write nothing. */
  public static Builder on(Transport transport) {
    return new Builder(transport);
  }

  /** Returns the caller of the handler that runs on this thread. */
  public static Caller caller() {
    return CALLER.get();
  }

  public ThingService things() {
    return things;
  }

  /** Returns how often a handler was run. */
  public int runs() {
    return things.runs();
  }

  /** Returns the kinds of the events so far. */
  public List<Kind> events() {
    return journal.kinds();
  }

  /** Returns how many calls of {@code WaitOperation} have begun to wait, or were answered. */
  public int waits() {
    return waits.get();
  }

  /** Returns the server itself. */
  public Server server() {
    return server;
  }

  /** Returns the port it listens on. */
  public int port() {
    return server.getPort();
  }

  public ManagedChannel channel() {
    return channel;
  }

  /** Stops the server as a process does on SIGTERM. */
  public void drain(Duration grace) {
    interceptor.orElseThrow().drain(grace, server);
  }

  /** Closes the interceptor while the server still serves. */
  public void closeInterceptor() {
    interceptor.ifPresent(IdempotencyInterceptor::close);
  }

  /** Cancels all calls, and waits until the transport has noticed; handlers may continue. */
  @Override
  public void close() {
    channel.shutdownNow();
    server.shutdownNow();
    try {
      server.awaitTermination(10, TimeUnit.SECONDS);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
    closeInterceptor();
    closedLast.forEach(Runnable::run);
  }

  private static Metadata.Key<String> header(String name) {
    return Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER);
  }

  private final class Waits implements ServerInterceptor {
    @Override
    public <RequestT, ResponseT> ServerCall.Listener<RequestT> interceptCall(
        ServerCall<RequestT, ResponseT> call,
        Metadata headers,
        ServerCallHandler<RequestT, ResponseT> next) {
      boolean waits = call.getMethodDescriptor() == OperationsGrpc.getWaitOperationMethod();
      return new SimpleForwardingServerCallListener<>(next.startCall(call, headers)) {
        @Override
        public void onHalfClose() {
          super.onHalfClose();
          ThingServer.this.waits.addAndGet(waits ? 1 : 0);
        }
      };
    }
  }

  /**
   * Authentication, which every service has in front of the interceptor. This one accepts
   * everybody.
   */
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
      Caller caller = caller(user, headers.get(NAMESPACE));
      return Contexts.interceptCall(
          Context.current().withValue(CALLER, caller), call, headers, next);
    }

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
  }

  /** Settings of a server. */
  public static final class Builder {
    private final Transport transport;
    private final List<ServerInterceptor> outside = new ArrayList<>();
    private final List<ServerInterceptor> inside = new ArrayList<>();
    private final List<Runnable> closedLast = new ArrayList<>();
    private final Procedures.Builder procedures = Procedures.builder();
    private UnaryOperator<ProcedureBuilder<Thing>> createThing = UnaryOperator.identity();
    private UnaryOperator<IdempotencyInterceptor.Builder> settings = UnaryOperator.identity();
    private Optional<IdempotencyStore> store = Optional.empty();
    private Optional<Shards> shards = Optional.empty();
    private ThingHandler handler = ThingHandler::answer;
    private Optional<ThingHandler> otherHandler = Optional.empty();
    private boolean bare;
    private boolean withServices;
    private boolean resource = true;

    private Builder(Transport transport) {
      this.transport = transport;
    }

    /** Sets the store; without one, the interceptor passes calls through. */
    public Builder store(IdempotencyStore store) {
      this.store = Optional.of(store);
      return this;
    }

    /** Closes what the server owns, such as its store, after the server. */
    public Builder closing(Runnable end) {
      closedLast.add(end);
      return this;
    }

    /** Sets the shards, instead of one store. */
    public Builder shards(Shards shards) {
      this.shards = Optional.of(shards);
      return this;
    }

    /** Leaves the interceptor out. */
    public Builder bare() {
      this.bare = true;
      return this;
    }

    /** Serves recovery and operations as well. */
    public Builder withServices() {
      this.withServices = true;
      return this;
    }

    /** Changes the descriptor of {@code CreateThing}. */
    public Builder createThing(UnaryOperator<ProcedureBuilder<Thing>> change) {
      this.createThing = change;
      return this;
    }

    /** Describes {@code CreateThing} without a resource. */
    public Builder withoutResource() {
      this.resource = false;
      return this;
    }

    /** Makes {@code CreateOther} idempotent as well. */
    public Builder describeOther() {
      return describe(Procedure.of(CREATE_OTHER).execution(Execution.RESERVED).build());
    }

    /** Describes another method. */
    public Builder describe(Procedure procedure) {
      procedures.add(procedure);
      return this;
    }

    /** Sets the test's own handler. */
    public Builder handler(ThingHandler handler) {
      this.handler = handler;
      return this;
    }

    /** Sets a handler for {@code CreateOther} alone. */
    public Builder otherHandler(ThingHandler handler) {
      this.otherHandler = Optional.of(handler);
      return this;
    }

    /** Changes the interceptor. */
    public Builder settings(UnaryOperator<IdempotencyInterceptor.Builder> settings) {
      this.settings = settings;
      return this;
    }

    /** Adds another listener to the interceptor. */
    public Builder listener(IdempotencyListener listener) {
      return settings(builder -> builder.listener(listener));
    }

    /** Adds an interceptor in front of all others. */
    public Builder outside(ServerInterceptor interceptor) {
      outside.add(interceptor);
      return this;
    }

    /** Adds an interceptor between the one under test and the handlers. */
    public Builder inside(ServerInterceptor interceptor) {
      inside.add(interceptor);
      return this;
    }

    public ThingServer start() {
      return new ThingServer(this);
    }

    private Optional<IdempotencyInterceptor> interceptor(IdempotencyListener events) {
      if (bare) {
        return Optional.empty();
      }
      procedures.add(
          createThing
              .apply(
                  resource
                      ? Procedure.annotated(CREATE_THING)
                      : Procedure.of(CREATE_THING).execution(Execution.RESERVED))
              .build());
      IdempotencyInterceptor.Builder builder =
          IdempotencyInterceptor.builder(
                  procedures.build(), () -> Optional.ofNullable(CALLER.get()))
              .listener(events);
      builder.withoutStore();
      store.ifPresent(builder::store);
      shards.ifPresent(builder::shards);
      VirtualThreads.wanted().ifPresent(builder::executor);
      return Optional.of(settings.apply(builder).build());
    }
  }
}
