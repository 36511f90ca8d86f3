package io.github.grpcidempotency.shop;

import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.client.testing.v1.Order;
import io.github.grpcidempotency.client.testing.v1.OrderRequest;
import io.github.grpcidempotency.client.testing.v1.OrderServiceGrpc;
import io.github.grpcidempotency.grpc.IdempotencyInterceptor;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.longrunning.LongRunningOperations;
import io.github.grpcidempotency.postgres.ClaimTransaction;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.Procedures;
import io.github.grpcidempotency.resource.IdempotencyStatus;
import io.github.grpcidempotency.resource.OutboxQuery;
import io.github.grpcidempotency.resource.ResourceId;
import io.github.grpcidempotency.resource.ResourceType;
import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.shaded.io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;

/**
 * A server on loopback with the library and its store, whose handler inserts a row: the effect that
 * must happen once. A server that packs answers once an order is inserted, and an outbox has the
 * state of its packing.
 */
public final class ShopServer implements AutoCloseable {
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
  private final Network network = new Network();
  private final Service service = new Service();
  private final boolean packs;
  private final Server server;
  private final List<ManagedChannel> channels = new ArrayList<>();

  public ShopServer(Databases.Database database) {
    this(database, false);
  }

  /** Starts a server that packs, with the service for operations. */
  public static ShopServer packing(Databases.Database database) {
    return new ShopServer(database, true);
  }

  private ShopServer(Databases.Database database, boolean packs) {
    this.packs = packs;
    this.pool = database.pool();
    Procedures.Builder procedures =
        Procedures.builder()
            .addAnnotated(OrderServiceGrpc.getServiceDescriptor())
            .defaultExecution(method -> Optional.of(Execution.RESERVED));
    if (packs) {
      procedures.add(
          Procedure.annotated(OrderServiceGrpc.getCreateOrderMethod())
              .resource(ResourceType.of("order"), order -> ResourceId.of(order.getId()))
              .status(OUTBOX)
              .build());
    }
    this.interceptor =
        IdempotencyInterceptor.builder(procedures.build(), () -> Optional.of(CALLER))
            .store(PostgresIdempotencyStore.builder(pool).build())
            .build();
    this.server = start();
  }

  private Server start() {
    NettyServerBuilder builder =
        NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .addService(service)
            .addService(interceptor.recovery())
            .intercept(interceptor)
            .intercept(network);
    if (packs) {
      builder.addService(LongRunningOperations.of(interceptor));
    }
    try {
      return builder.build().start();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  public int port() {
    return server.getPort();
  }

  /** Returns how often the handler has run. */
  public int runs() {
    return service.runs.get();
  }

  /** Returns the keys of all calls so far, as they came. */
  public List<String> keys() {
    return List.copyOf(network.keys);
  }

  /** Loses the next answers: the client gets {@code UNAVAILABLE}. */
  public ShopServer losingAnswers(int answers) {
    network.toLose.set(answers);
    return this;
  }

  /** Lets the next handlers that create an order answer {@code UNAVAILABLE}. */
  public ShopServer failing(int handlers) {
    service.toFail.set(handlers);
    return this;
  }

  /** Lets handlers of orders with such names wait until released; gives what releases one. */
  public Semaphore holdHandlers(String prefix) {
    service.held = prefix;
    Semaphore gate = new Semaphore(0);
    service.gate = Optional.of(gate);
    return gate;
  }

  /** Returns how many handlers wait. */
  public int waiting() {
    return service.gate.map(Semaphore::getQueueLength).orElse(0);
  }

  public void letHandlersGo() {
    Optional<Semaphore> gate = service.gate;
    service.gate = Optional.empty();
    gate.ifPresent(closed -> closed.release(1_000));
  }

  /** Forgets the calls so far, and handles the next calls as at the start. */
  public void reset() {
    letHandlersGo();
    network.keys.clear();
    network.toLose.set(0);
    service.runs.set(0);
    service.toFail.set(0);
  }

  /** Opens a channel, closed with the server. */
  public ManagedChannel channel(UnaryOperator<NettyChannelBuilder> settings) {
    ManagedChannel channel =
        settings.apply(NettyChannelBuilder.forAddress("localhost", port()).usePlaintext()).build();
    channels.add(channel);
    return channel;
  }

  @Override
  public void close() {
    letHandlersGo();
    channels.forEach(ManagedChannel::shutdownNow);
    server.shutdownNow();
    interceptor.close();
    pool.close();
  }

  private final class Service extends OrderServiceGrpc.OrderServiceImplBase {
    private final AtomicInteger runs = new AtomicInteger();
    private final AtomicInteger toFail = new AtomicInteger();
    private volatile Optional<Semaphore> gate = Optional.empty();
    private volatile String held = "";

    @Override
    public void createOrder(OrderRequest request, StreamObserver<Order> observer) {
      runs.incrementAndGet();
      if (toFail.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
        observer.onError(Status.UNAVAILABLE.asRuntimeException());
        return;
      }
      if (request.getName().isEmpty()) {
        observer.onError(
            Status.INVALID_ARGUMENT.withDescription("an order has a name").asRuntimeException());
        return;
      }
      String id = UUID.randomUUID().toString();
      try {
        insert(ClaimTransaction.connection(), request, id);
        holdIfWanted(request);
        answer(request, id, observer);
      } catch (SQLException failure) {
        observer.onError(Status.INTERNAL.withCause(failure).asRuntimeException());
      }
    }

    @Override
    public void createWithRequestId(OrderRequest request, StreamObserver<Order> observer) {
      runs.incrementAndGet();
      String id = UUID.randomUUID().toString();
      try (Connection connection = pool.getConnection()) {
        insert(connection, request, id);
        holdIfWanted(request);
        answer(request, id, observer);
      } catch (SQLException failure) {
        observer.onError(Status.INTERNAL.withCause(failure).asRuntimeException());
      }
    }

    private void holdIfWanted(OrderRequest request) {
      if (request.getName().startsWith(held)) {
        gate.ifPresent(Semaphore::acquireUninterruptibly);
      }
    }

    private void insert(Connection connection, OrderRequest request, String id)
        throws SQLException {
      try (PreparedStatement order =
          connection.prepareStatement(
              "INSERT INTO shop.orders (id, user_id, name) VALUES (?::uuid, ?, ?)")) {
        order.setString(1, id);
        order.setObject(2, CALLER.userId());
        order.setString(3, request.getName());
        order.executeUpdate();
      }
      if (packs) {
        try (PreparedStatement outbox =
            connection.prepareStatement("INSERT INTO shop.outbox (order_id) VALUES (?::uuid)")) {
          outbox.setString(1, id);
          outbox.executeUpdate();
        }
      }
    }

    private void answer(OrderRequest request, String id, StreamObserver<Order> observer) {
      observer.onNext(
          Order.newBuilder().setId(id).setName(request.getName()).setSecret("secret").build());
      observer.onCompleted();
    }
  }

  /** Sees what comes first and goes last, as a network does. */
  private static final class Network implements ServerInterceptor {
    private static final Metadata.Key<String> KEY =
        Metadata.Key.of("idempotency-key", Metadata.ASCII_STRING_MARSHALLER);

    private final AtomicInteger toLose = new AtomicInteger();
    private final List<String> keys = new CopyOnWriteArrayList<>();

    @Override
    public <RequestT, ResponseT> ServerCall.Listener<RequestT> interceptCall(
        ServerCall<RequestT, ResponseT> call,
        Metadata headers,
        ServerCallHandler<RequestT, ResponseT> next) {
      keys.add(String.valueOf(headers.get(KEY)));
      if (toLose.getAndUpdate(left -> Math.max(0, left - 1)) == 0) {
        return next.startCall(call, headers);
      }
      return next.startCall(
          new SimpleForwardingServerCall<>(call) {
            @Override
            public void sendHeaders(Metadata sent) {}

            @Override
            public void sendMessage(ResponseT message) {}

            @Override
            public void close(Status status, Metadata trailers) {
              super.close(Status.UNAVAILABLE.withDescription("lost"), new Metadata());
            }
          },
          headers);
    }
  }
}
