package io.github.grpcidempotency.features;

import io.github.grpcidempotency.client.IdempotencyClientInterceptor;
import io.github.grpcidempotency.grpc.IdempotencyInterceptor;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.longrunning.LongRunningOperations;
import io.github.grpcidempotency.postgres.IdempotencySchema;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.Procedures;
import io.grpc.BindableService;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.InsecureServerCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import io.grpc.ServerInterceptor;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;

/** The common part of the samples: migrations, a server on a socket, and a channel to it. */
record Shop(
    IdempotencyInterceptor idempotency, Server server, ManagedChannel channel, Runnable closeStore)
    implements AutoCloseable {
  private static final String INTENTS = "io/github/grpcidempotency/client/intents/migration";

  static void migrate(DataSource owner) {
    IdempotencySchema.migrate(owner);
    migrate(owner, "idempotency_client", INTENTS); // for IntentClient
    migrate(owner, "shop", "shop");
  }

  private static void migrate(DataSource owner, String schema, String location) {
    Flyway.configure().dataSource(owner).schemas(schema).locations(location).load().migrate();
  }

  /** Starts a server with all annotated methods of a service, some of them with more settings. */
  static Shop open(DataSource pool, BindableService handlers, Procedure... procedures)
      throws IOException {
    Procedures.Builder all =
        Procedures.builder().addAnnotated(handlers.bindService().getServiceDescriptor());
    List.of(procedures).forEach(all::add);
    PostgresIdempotencyStore store = PostgresIdempotencyStore.builder(pool).build();
    return open(
        handlers,
        IdempotencyInterceptor.builder(all.build(), Shop::caller).store(store).build(),
        store::close);
  }

  static Shop open(
      BindableService handlers,
      IdempotencyInterceptor idempotency,
      Runnable closeStore,
      ServerInterceptor... outside)
      throws IOException {
    ServerBuilder<?> builder =
        Grpc.newServerBuilderForPort(0, InsecureServerCredentials.create())
            .addService(handlers)
            .addService(idempotency.recovery())
            .addService(LongRunningOperations.of(idempotency))
            .intercept(idempotency);
    List.of(outside).forEach(builder::intercept);
    Server server = builder.build().start();
    String target = "localhost:" + server.getPort();
    ManagedChannel channel =
        Grpc.newChannelBuilder(target, InsecureChannelCredentials.create())
            .intercept(IdempotencyClientInterceptor.create()) // sends the keys
            .build();
    return new Shop(idempotency, server, channel, closeStore);
  }

  /** Stands for your authentication, which returns the user of the current call. */
  static Optional<Caller> caller() {
    return Optional.of(Caller.ofSubject("auth0|alice"));
  }

  static <T> void answer(StreamObserver<T> observer, T response) {
    observer.onNext(response);
    observer.onCompleted();
  }

  @Override
  public void close() {
    channel.shutdownNow();
    idempotency.drain(Duration.ofSeconds(5), server);
    idempotency.close();
    closeStore.run();
  }
}
