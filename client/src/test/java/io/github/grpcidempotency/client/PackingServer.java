package io.github.grpcidempotency.client;

import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.client.testing.v1.Order;
import io.github.grpcidempotency.client.testing.v1.OrderRequest;
import io.github.grpcidempotency.client.testing.v1.OrderServiceGrpc;
import io.github.grpcidempotency.grpc.IdempotencyInterceptor;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.postgres.ClaimTransaction;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.IdempotencyStatus;
import io.github.grpcidempotency.procedure.OutboxQuery;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.Procedures;
import io.github.grpcidempotency.procedure.ResourceType;
import io.grpc.BindableService;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

/**
 * A server on loopback with the library, its store and an outbox: an order is answered once it is
 * written down, and packed later.
 */
final class PackingServer implements AutoCloseable {
  private static final Caller CALLER = Caller.ofSubject("buyer");
  private static final OutboxQuery OUTBOX =
      OutboxQuery.of(
              "SELECT state FROM shop.outbox WHERE order_id = :resource_id ORDER BY id DESC LIMIT"
                  + " 1")
          .map(IdempotencyStatus.PROCESSING, "pending")
          .map(IdempotencyStatus.COMPLETED, "packed")
          .map(IdempotencyStatus.FAILED, "out of stock")
          .build();

  private final HikariDataSource pool;
  private final IdempotencyInterceptor interceptor;
  private final Service service = new Service();
  private final Server server;

  private PackingServer(
      Databases.Database database,
      int port,
      Function<IdempotencyInterceptor, List<BindableService>> services) {
    this.pool = database.pool();
    this.interceptor =
        IdempotencyInterceptor.builder(
                Procedures.builder()
                    .add(procedure(OrderServiceGrpc.getCreateOrderMethod()))
                    .add(procedure(OrderServiceGrpc.getCreateWithRequestIdMethod()))
                    .addAnnotated(OrderServiceGrpc.getServiceDescriptor())
                    .defaultExecution(method -> Optional.of(Execution.RESERVED))
                    .build(),
                () -> Optional.of(CALLER))
            .store(PostgresIdempotencyStore.builder(pool).build())
            .build();
    NettyServerBuilder builder =
        NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
            .addService(service)
            .intercept(interceptor);
    services.apply(interceptor).forEach(builder::addService);
    try {
      this.server = builder.build().start();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  static PackingServer start(Databases.Database database, int port) {
    return new PackingServer(database, port, on -> List.of(on.operations(), on.recovery()));
  }

  static PackingServer startWithRecoveryOnly(Databases.Database database) {
    return new PackingServer(database, 0, on -> List.of(on.recovery()));
  }

  private static Procedure procedure(MethodDescriptor<OrderRequest, Order> method) {
    return Procedure.annotated(method)
        .resource(ResourceType.of("order"), order -> UUID.fromString(order.getId()))
        .status(OUTBOX)
        .build();
  }

  int port() {
    return server.getPort();
  }

  /** Returns how often a handler has run. */
  int runs() {
    return service.runs.get();
  }

  /** Lets the reserved method's handler wait until released. */
  Semaphore holdHandler() {
    Semaphore gate = new Semaphore(0);
    service.gate = Optional.of(gate);
    return gate;
  }

  @Override
  public void close() {
    server.shutdownNow();
    interceptor.close();
    pool.close();
  }

  private final class Service extends OrderServiceGrpc.OrderServiceImplBase {
    private final AtomicInteger runs = new AtomicInteger();
    private volatile Optional<Semaphore> gate = Optional.empty();

    @Override
    public void createOrder(OrderRequest request, StreamObserver<Order> observer) {
      try {
        answer(request, insert(ClaimTransaction.connection(), request), observer);
      } catch (SQLException failure) {
        observer.onError(Status.INTERNAL.withCause(failure).asRuntimeException());
      }
    }

    @Override
    public void createWithRequestId(OrderRequest request, StreamObserver<Order> observer) {
      gate.ifPresent(Semaphore::acquireUninterruptibly);
      try (Connection connection = pool.getConnection()) {
        answer(request, insert(connection, request), observer);
      } catch (SQLException failure) {
        observer.onError(Status.INTERNAL.withCause(failure).asRuntimeException());
      }
    }

    private String insert(Connection connection, OrderRequest request) throws SQLException {
      runs.incrementAndGet();
      String id = UUID.randomUUID().toString();
      try (PreparedStatement insert =
          connection.prepareStatement(
              "INSERT INTO shop.orders (id, user_id, name) VALUES (?::uuid, ?, ?)")) {
        insert.setString(1, id);
        insert.setObject(2, CALLER.userId());
        insert.setString(3, request.getName());
        insert.execute();
      }
      try (PreparedStatement insert =
          connection.prepareStatement("INSERT INTO shop.outbox (order_id) VALUES (?::uuid)")) {
        insert.setString(1, id);
        insert.execute();
      }
      return id;
    }

    private void answer(OrderRequest request, String id, StreamObserver<Order> observer) {
      observer.onNext(
          Order.newBuilder().setId(id).setName(request.getName()).setSecret("secret").build());
      observer.onCompleted();
    }
  }
}
