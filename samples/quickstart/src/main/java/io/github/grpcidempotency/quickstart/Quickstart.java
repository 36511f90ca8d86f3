package io.github.grpcidempotency.quickstart;

import static com.github.f4b6a3.uuid.UuidCreator.getTimeOrderedEpoch;

import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.quickstart.OrderClient.Reply;
import io.github.grpcidempotency.quickstart.orders.v1.*;
import io.github.grpcidempotency.quickstart.orders.v1.OrderServiceGrpc.OrderServiceBlockingStub;
import java.sql.*;
import java.util.UUID;
import java.util.function.Function;

/** Runs database, server and client. Exits with 0 only if every retry got the first answer. */
public final class Quickstart {
  public static void main(String... args) throws Exception {
    Database database =
        args.length == 0 ? Database.embedded() : new Database(args[0].replace("--jdbc-url=", ""));
    System.exit(play(database) ? 0 : 1);
  }

  static boolean play(Database database) throws Exception {
    try (HikariDataSource owner = database.pool("shop_owner")) {
      Database.migrate(owner);
    }
    try (HikariDataSource pool = database.pool("shop_app")) {
      OrderServer server = OrderServer.start(pool, OrderServer::authenticate);
      OrderClient client = OrderClient.connect(server.server().getPort(), "auth0|alice");
      UUID key = getTimeOrderedEpoch(); // made when the user decides, not for each call
      CreateOrderRequest order = CreateOrderRequest.newBuilder().setItem("book").build();
      boolean held = twice("CreateOrder", client, key, stub -> stub.createOrder(order));
      try (Connection worker = DriverManager.getConnection(database.url(), "shop_owner", null)) {
        worker.createStatement().executeUpdate("UPDATE shop.outbox SET status = 'done'");
      }
      Reply<Order> later =
          call("CreateOrder, later:", client, key, stub -> stub.createOrder(order));
      held &= later.replayed() && "completed".equals(later.status());

      String id = later.answer().getId();
      CreateShipmentRequest shipment = CreateShipmentRequest.newBuilder().setOrderId(id).build();
      held &=
          twice(
              "CreateShipment",
              client,
              getTimeOrderedEpoch(),
              stub -> stub.createShipment(shipment));
      SendReceiptRequest receipt = SendReceiptRequest.newBuilder().setOrderId(id).build();
      held &=
          twice("SendReceipt", client, getTimeOrderedEpoch(), stub -> stub.sendReceipt(receipt));
      client.channel().shutdownNow();
      server.stop();
      System.out.println(held ? "Every retry got the first answer." : "THIS SHOULD NOT BE.");
      return held;
    }
  }

  /** Calls, and calls again with the same key, as if the first answer had been lost. */
  private static <T> boolean twice(
      String name, OrderClient client, UUID key, Function<OrderServiceBlockingStub, T> method) {
    Reply<T> first = call(name + ", first call:", client, key, method);
    Reply<T> retry = call(name + ", retry:", client, key, method);
    return !first.replayed() && retry.replayed() && retry.answer().equals(first.answer());
  }

  private static <T> Reply<T> call(
      String what, OrderClient client, UUID key, Function<OrderServiceBlockingStub, T> method) {
    Reply<T> reply = client.call(key, method);
    System.out.printf(
        "%s%n  idempotency-key: %s%n%s  idempotency-replayed: %s%n  idempotency-status: %s%n%n",
        what,
        key,
        reply.answer().toString().indent(2),
        reply.replayed() ? "true" : "(absent)",
        reply.status());
    return reply;
  }
}
