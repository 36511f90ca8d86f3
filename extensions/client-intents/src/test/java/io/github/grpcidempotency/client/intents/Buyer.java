package io.github.grpcidempotency.client.intents;

import io.github.grpcidempotency.client.CallFailedException;
import io.github.grpcidempotency.client.Intent;
import io.github.grpcidempotency.client.Reply;
import io.github.grpcidempotency.client.testing.v1.Order;
import io.github.grpcidempotency.client.testing.v1.OrderRequest;
import io.github.grpcidempotency.client.testing.v1.OrderServiceGrpc;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.ForwardingClientCallListener.SimpleForwardingClientCallListener;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;

/**
 * A client service that decides to order something, and stops for ever at the given step, to be
 * killed there. It runs in a separate process. A test also uses the steps without stopping.
 */
final class Buyer implements AutoCloseable {
  /** Where it can be killed. */
  enum Step {
    BEFORE_COMMIT,
    AFTER_COMMIT,
    BEFORE_CALL,
    DURING_CALL,
    ANSWER_ARRIVED,
    ANSWER_KEPT,
    CALLBACK_DONE,
    NEVER
  }

  private static final Duration LEASE = Duration.ofSeconds(1);

  private final Step step;
  private final ManagedChannel channel;

  Buyer(Step step, int port) {
    this.step = step;
    this.channel =
        NettyChannelBuilder.forAddress("localhost", port)
            .usePlaintext()
            .intercept(new Stopping())
            .build();
  }

  /**
   * Runs buyers until they are killed: with the server's port, a count of orders, and for each
   * buyer its step and a JDBC URL.
   */
  public static void main(String[] arguments) throws Exception {
    int port = Integer.parseInt(arguments[0]);
    int orders = Integer.parseInt(arguments[1]);
    for (int i = 2; i < arguments.length; i += 2) {
      Buyer buyer = new Buyer(Step.valueOf(arguments[i]), port);
      String url = arguments[i + 1];
      new Thread(() -> buyer.run(orders, url)).start();
    }
    new CountDownLatch(1).await();
  }

  private void run(int orders, String url) {
    try {
      order(orders, ClientDatabase.open(url));
    } catch (SQLException | RuntimeException failure) {
      say(failure.toString());
      Runtime.getRuntime().halt(1);
    }
  }

  @Override
  public void close() {
    channel.shutdownNow();
  }

  private void order(int orders, ClientDatabase database) throws SQLException {
    IntentStore intents = database.intents();
    IntentWorker worker = worker(intents, new ToDatabase(database));
    if (step == Step.NEVER) {
      worker.start();
    }
    for (int i = 0; i < orders; i++) {
      String name = step + " " + UUID.randomUUID();
      try (Connection connection = database.connection()) {
        connection.setAutoCommit(false);
        execute(connection, "INSERT INTO buyer.decisions VALUES (?)", name);
        Intent unused =
            intents.write(connection, "shop", OrderServiceGrpc.getCreateOrderMethod(), order(name));
        at(Step.BEFORE_COMMIT);
        connection.commit();
      }
      say("decided");
    }
    at(Step.AFTER_COMMIT);
    IntentWorker unused = worker.start();
  }

  /** Returns a worker on the server's order method. */
  IntentWorker worker(IntentStore intents, IntentCallback<Order> callback) {
    return IntentWorker.builder(intents)
        .method(
            "shop",
            OrderServiceGrpc.newStub(channel),
            OrderServiceGrpc.getCreateOrderMethod(),
            callback)
        .lease(LEASE)
        .build();
  }

  /** Tells the test that started this process. */
  @SuppressWarnings("SystemOut")
  private static void say(String line) {
    System.out.println(line);
  }

  private void at(Step reached) {
    if (step == reached) {
      say("at " + reached);
      try {
        new CountDownLatch(1).await();
      } catch (InterruptedException impossible) {
        throw new IllegalStateException(impossible);
      }
    }
  }

  private static OrderRequest order(String name) {
    return OrderRequest.newBuilder().setName(name).build();
  }

  private static void execute(Connection connection, String sql, String... values)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      for (int i = 0; i < values.length; i++) {
        statement.setString(i + 1, values[i]);
      }
      statement.executeUpdate();
    }
  }

  /** Stops ahead of a call, or once its answer has arrived. */
  private final class Stopping implements ClientInterceptor {
    @Override
    public <RequestT, ResponseT> ClientCall<RequestT, ResponseT> interceptCall(
        MethodDescriptor<RequestT, ResponseT> method, CallOptions options, Channel next) {
      return new SimpleForwardingClientCall<>(next.newCall(method, options)) {
        @Override
        public void start(Listener<ResponseT> listener, Metadata headers) {
          at(Step.BEFORE_CALL);
          super.start(
              new SimpleForwardingClientCallListener<>(listener) {
                @Override
                public void onClose(Status status, Metadata trailers) {
                  at(Step.ANSWER_ARRIVED);
                  super.onClose(status, trailers);
                }
              },
              headers);
        }
      };
    }
  }

  /** Notes an answer in the client's database. */
  final class ToDatabase implements IntentCallback<Order> {
    private final ClientDatabase database;

    ToDatabase(ClientDatabase database) {
      this.database = database;
    }

    @Override
    public void answered(Intent intent, Reply<Order> reply) throws SQLException {
      at(Step.ANSWER_KEPT);
      try (Connection connection = database.connection()) {
        execute(
            connection,
            "INSERT INTO buyer.answers VALUES (?, ?)",
            intent.toString(),
            reply.response().getId());
      }
      at(Step.CALLBACK_DONE);
    }

    @Override
    public void failed(Intent intent, CallFailedException failure) {
      throw failure;
    }
  }
}
