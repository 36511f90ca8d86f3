package io.github.grpcidempotency.grpc;

import io.github.grpcidempotency.event.IdempotencyListener;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.ProcedureBuilder;
import io.github.grpcidempotency.procedure.Procedures;
import io.github.grpcidempotency.store.IdempotencyStore;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.Thing;
import io.github.grpcidempotency.testing.v1.ThingServiceGrpc;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

/** A server of {@link Things} behind the interceptor, and a client of it. */
final class ThingServer {
  static final MethodDescriptor<CreateThingRequest, Thing> CREATE_THING =
      ThingServiceGrpc.getCreateThingMethod();
  static final MethodDescriptor<CreateThingRequest, Thing> CREATE_OTHER =
      ThingServiceGrpc.getCreateOtherMethod();
  static final MethodDescriptor<CreateThingRequest, Thing> CREATE_MANY =
      ThingServiceGrpc.getCreateManyMethod();

  /** The caller, as authentication leaves it: {@code user} or {@code user/namespace}. */
  static final Metadata.Key<String> USER = IdempotencyMetadata.ascii("user");

  static final Context.Key<Caller> CALLER = Context.key("caller");

  private final Things things;
  private final Optional<IdempotencyInterceptor> interceptor;
  private final Server server;
  private final ManagedChannel channel;

  private ThingServer(Builder builder) {
    this.things = builder.things;
    this.interceptor = builder.interceptor();
    List<ServerInterceptor> outermostFirst = new ArrayList<>(builder.outside);
    outermostFirst.add(new Authentication());
    interceptor.ifPresent(outermostFirst::add);
    outermostFirst.addAll(builder.inside);
    this.server =
        builder
            .transport
            .newServer()
            .addService(ServerInterceptors.interceptForward(things, outermostFirst))
            .build();
    try {
      server.start();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
    this.channel = builder.transport.connect(server);
  }

  static Builder on(Transport transport) {
    return new Builder(transport);
  }

  Things things() {
    return things;
  }

  ManagedChannel channel() {
    return channel;
  }

  /** Starts a call of {@code CreateThing} without user or key. */
  TestCall call(String name) {
    return new TestCall(channel, CREATE_THING, name);
  }

  /** Closes the interceptor while the server still serves. */
  void closeInterceptor() {
    interceptor.orElseThrow().close();
  }

  void stop() throws InterruptedException {
    channel.shutdownNow();
    server.shutdownNow();
    server.awaitTermination(10, TimeUnit.SECONDS);
    interceptor.ifPresent(IdempotencyInterceptor::close);
  }

  /** What stands in front of the interceptor in every service. */
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
      Context context = Context.current().withValue(CALLER, caller(user));
      return Contexts.interceptCall(context, call, headers, next);
    }

    private static Caller caller(String user) {
      int slash = user.indexOf('/');
      return slash < 0
          ? Caller.of(UUID.fromString(user))
          : Caller.of(UUID.fromString(user.substring(0, slash)))
              .inTenant(user.substring(slash + 1));
    }
  }

  /** Settings of a server. */
  static final class Builder {
    private final Transport transport;
    private final Things things = new Things();
    private final List<ServerInterceptor> outside = new ArrayList<>();
    private final List<ServerInterceptor> inside = new ArrayList<>();
    private final Procedures.Builder procedures = Procedures.builder();
    private UnaryOperator<ProcedureBuilder<Thing>> createThing = UnaryOperator.identity();
    private UnaryOperator<IdempotencyInterceptor.Builder> settings = UnaryOperator.identity();
    private Optional<IdempotencyStore> store = Optional.empty();
    private boolean bare;
    private boolean resource = true;

    private Builder(Transport transport) {
      this.transport = transport;
    }

    Builder store(IdempotencyStore store) {
      this.store = Optional.of(store);
      return this;
    }

    /** Leaves the interceptor out. */
    Builder bare() {
      this.bare = true;
      return this;
    }

    /** Changes the descriptor of {@code CreateThing}. */
    Builder createThing(UnaryOperator<ProcedureBuilder<Thing>> change) {
      this.createThing = change;
      return this;
    }

    /** Makes {@code CreateOther} idempotent as well. */
    Builder describeOther() {
      procedures.add(Procedure.of(CREATE_OTHER).build());
      return this;
    }

    /** Describes {@code CreateThing} as one whose record refers to nothing. */
    Builder withoutResource() {
      this.resource = false;
      return this;
    }

    /** Describes another method. */
    Builder describe(Procedure procedure) {
      procedures.add(procedure);
      return this;
    }

    Builder settings(UnaryOperator<IdempotencyInterceptor.Builder> settings) {
      this.settings = settings;
      return this;
    }

    Builder listener(IdempotencyListener listener) {
      return settings(builder -> builder.listener(listener));
    }

    Builder outside(ServerInterceptor interceptor) {
      outside.add(interceptor);
      return this;
    }

    Builder inside(ServerInterceptor interceptor) {
      inside.add(interceptor);
      return this;
    }

    ThingServer start() {
      return new ThingServer(this);
    }

    private Optional<IdempotencyInterceptor> interceptor() {
      if (bare) {
        return Optional.empty();
      }
      procedures.add(
          createThing
              .apply(resource ? Procedure.annotated(CREATE_THING) : Procedure.of(CREATE_THING))
              .build());
      IdempotencyInterceptor.Builder builder =
          IdempotencyInterceptor.builder(
              procedures.build(), () -> Optional.ofNullable(CALLER.get()));
      store.ifPresent(builder::store);
      return Optional.of(settings.apply(builder).build());
    }
  }
}
