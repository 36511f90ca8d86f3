package io.github.grpcidempotency.benchmarks.service;

import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import io.github.grpcidempotency.benchmarks.v1.CreateProjectRequest;
import io.github.grpcidempotency.benchmarks.v1.Project;
import io.github.grpcidempotency.grpc.IdempotencyInterceptor;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import io.grpc.Grpc;
import io.grpc.InsecureServerCredentials;
import io.grpc.Server;
import io.grpc.ServerCallHandler;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/** A gRPC server on the loopback interface, with the two pools of its connections. */
public final class BenchmarkServer implements AutoCloseable {
  /** The user of every call. */
  public static final UUID USER = UUID.fromString("00000000-0000-4000-8000-000000000001");

  /** The default size of the handlers' pool. */
  public static final int CONNECTIONS = 20;

  private static final int CONNECTIONS_OF_STORE = 4;

  private final HikariDataSource pool;
  private final HikariDataSource storePool;
  private final Peers peers;
  private final PostgresIdempotencyStore store;
  private final IdempotencyInterceptor interceptor;
  private final Server server;

  private interface Create {
    Project apply(CreateProjectRequest request) throws SQLException;
  }

  private BenchmarkServer(
      DurableDatabase database, HikariDataSource pool, HikariDataSource storePool) {
    this.pool = pool;
    this.storePool = storePool;
    Handler handler = new Handler(pool, USER);
    this.peers = new Peers(database, pool, handler);
    this.store = PostgresIdempotencyStore.builder(pool).connections(storePool).build();
    this.interceptor =
        IdempotencyInterceptor.builder(
                ProcedureOf.everyVariant(), () -> Optional.of(Caller.of(USER)))
            .store(store)
            .build();
    this.server =
        Grpc.newServerBuilderForPort(0, InsecureServerCredentials.create())
            .addService(service(handler, peers))
            .intercept(new RequestKey())
            .intercept(interceptor)
            .build();
  }

  /** Starts a server with pools whose round trips have an additional delay. */
  public static BenchmarkServer start(DurableDatabase database, int connections, Duration delay) {
    BenchmarkServer started =
        new BenchmarkServer(
            database,
            database.newPool(connections, delay),
            database.newPool(CONNECTIONS_OF_STORE, delay));
    try {
      started.server.start();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
    return started;
  }

  private static ServerServiceDefinition service(Handler handler, Peers peers) {
    ServerServiceDefinition.Builder service = ServerServiceDefinition.builder(CreateMethod.SERVICE);
    for (Variant variant : Variant.values()) {
      service.addMethod(variant.method(), answerBy(request -> handler.create(variant, request)));
    }
    for (PeerVariant variant : PeerVariant.ALL) {
      service.addMethod(variant.method(), answerBy(request -> peers.create(variant, request)));
    }
    return service.build();
  }

  private static ServerCallHandler<CreateProjectRequest, Project> answerBy(Create create) {
    return ServerCalls.asyncUnaryCall((request, observer) -> answer(create, request, observer));
  }

  private static void answer(
      Create create, CreateProjectRequest request, StreamObserver<Project> observer) {
    Project created;
    try {
      created = create.apply(request);
    } catch (SQLException failure) {
      observer.onError(Status.UNAVAILABLE.withCause(failure).asRuntimeException());
      return;
    }
    observer.onNext(created);
    observer.onCompleted();
  }

  /** Returns where the server listens. */
  public int port() {
    return server.getPort();
  }

  /** Returns the pool of the handlers, and that of the store. */
  public List<HikariDataSource> pools() {
    return List.of(pool, storePool);
  }

  @Override
  public void close() {
    server.shutdownNow();
    try {
      if (!server.awaitTermination(10, TimeUnit.SECONDS)) {
        throw new IllegalStateException("the server does not stop");
      }
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
    interceptor.close();
    store.close();
    storePool.close();
    peers.close();
    pool.close();
  }
}
