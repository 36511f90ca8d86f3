package io.github.grpcidempotency.spring.example.demo;

import com.google.protobuf.Message;
import com.google.protobuf.TextFormat;
import io.github.grpcidempotency.client.Intent;
import io.github.grpcidempotency.client.Reply;
import io.github.grpcidempotency.spring.example.provider.CardServer;
import io.github.grpcidempotency.spring.example.shop.v1.CreateOrderRequest;
import io.github.grpcidempotency.spring.example.shop.v1.CreatePaymentRequest;
import io.github.grpcidempotency.spring.example.shop.v1.CreateShipmentRequest;
import io.github.grpcidempotency.spring.example.shop.v1.Order;
import io.github.grpcidempotency.spring.example.shop.v1.OrderServiceGrpc;
import io.github.grpcidempotency.spring.example.shop.v1.OrderServiceGrpc.OrderServiceBlockingStub;
import io.github.grpcidempotency.spring.example.shop.v1.Payment;
import io.github.grpcidempotency.spring.example.shop.v1.PaymentServiceGrpc;
import io.github.grpcidempotency.spring.example.shop.v1.PaymentServiceGrpc.PaymentServiceBlockingStub;
import io.github.grpcidempotency.spring.example.shop.v1.Receipt;
import io.github.grpcidempotency.spring.example.shop.v1.SendReceiptRequest;
import io.github.grpcidempotency.spring.example.shop.v1.Shipment;
import io.github.grpcidempotency.spring.example.shop.v1.ShipmentServiceGrpc;
import io.github.grpcidempotency.spring.example.shop.v1.ShipmentServiceGrpc.ShipmentServiceBlockingStub;
import io.grpc.Channel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.springframework.grpc.client.interceptor.security.BasicAuthenticationInterceptor;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Calls the shop as its clients do, and checks the rows in the database and the charges at the card
 * company.
 */
final class Scenes {
  private static final CreateOrderRequest BOOK =
      CreateOrderRequest.newBuilder().setItem("book").build();

  private final Channel channel;
  private final CardServer cards;
  private final JdbcTemplate rows;
  private final Story story;

  Scenes(Channel channel, CardServer cards, JdbcTemplate rows, Story story) {
    this.channel = channel;
    this.cards = cards;
    this.rows = rows;
    this.story = story;
  }

  void play() {
    Order order = order();
    shipment(order.getId());
    payment(order.getId());
    receipt(order.getId());
  }

  private Order order() {
    story.chapter("An order, by JPA, in one commit with its record");
    Intent intent = Intent.create(); // when the user decides, not for each call
    Reply<Order> first = order(intent, "alice");
    story.expect("the first call is run", !first.replayed());
    story.expect("another process is working on it", isStatus(first, Reply.Status.PROCESSING));

    rows.update("UPDATE shop.outbox SET status = 'done'"); // simulates that process
    Reply<Order> retry = order(intent, "alice");
    story.expect("a retry gets the first answer", isReplay(retry, first));
    story.expect("and reports that the work is done", isStatus(retry, Reply.Status.COMPLETED));
    rows("orders", 1);

    Reply<Order> bob = order(intent, "bob");
    story.expect("the same key of another user is another order", !bob.replayed());
    rows("orders", 2);
    story.expect("one is alice's and one is bob's", users() == 2);
    return first.response();
  }

  private void shipment(String order) {
    story.chapter("A shipment, by JdbcTemplate, in one commit with its record");
    CreateShipmentRequest request = CreateShipmentRequest.newBuilder().setOrderId(order).build();
    Intent intent = Intent.create();
    Supplier<Reply<Shipment>> call =
        () -> Reply.blocking(intent.on(shipments()), stub -> stub.createShipment(request));
    Reply<Shipment> first = call("alice: CreateShipment", intent, call);
    Reply<Shipment> retry = call("alice: CreateShipment", intent, call);
    story.expect("a retry gets the first answer", isReplay(retry, first));

    Intent again = Intent.create();
    story.expect(
        "another shipment of the order is refused, after its INSERT",
        code("alice: CreateShipment", again, () -> again.on(shipments()).createShipment(request))
            == Status.Code.FAILED_PRECONDITION);
    rows("shipments", 1);
  }

  private void payment(String order) {
    story.chapter(
        "A payment: the card is charged elsewhere, then booked in one commit with its record");
    CreatePaymentRequest request =
        CreatePaymentRequest.newBuilder().setOrderId(order).setCents(1999).setCard("lost").build();
    Intent intent = Intent.create();
    story.expect(
        "the card company charges, its answer is lost, and the call fails",
        code("alice: CreatePayment", intent, () -> intent.on(payments()).createPayment(request))
            == Status.Code.UNAVAILABLE);
    rows("payments", 0);
    Supplier<Reply<Payment>> call =
        () -> Reply.blocking(intent.on(payments()), stub -> stub.createPayment(request));
    Reply<Payment> second = call("alice: CreatePayment", intent, call);
    story.expect("the retry runs the handler again", !second.replayed());
    story.expect(
        "the card is charged once",
        cards.charges("lost").equals(List.of(second.response().getCharge())));
    Reply<Payment> third = call("alice: CreatePayment", intent, call);
    story.expect("another retry gets that answer", isReplay(third, second));
    rows("payments", 1);
  }

  private void receipt(String order) {
    story.chapter("A receipt, printed elsewhere by a handler without code for idempotency");
    SendReceiptRequest request = SendReceiptRequest.newBuilder().setOrderId(order).build();
    Intent intent = Intent.create();
    Supplier<Reply<Receipt>> call =
        () -> Reply.blocking(intent.on(payments()), stub -> stub.sendReceipt(request));
    Reply<Receipt> first = call("alice: SendReceipt", intent, call);
    Reply<Receipt> retry = call("alice: SendReceipt", intent, call);
    story.expect("a retry gets the first answer", isReplay(retry, first));
    story.expect("one receipt is printed", cards.receipts(order) == 1);
  }

  private Reply<Order> order(Intent intent, String user) {
    return call(
        user + ": CreateOrder \"book\"",
        intent,
        () -> Reply.blocking(intent.on(orders(user)), stub -> stub.createOrder(BOOK)));
  }

  /** Prints the call with its key, makes it, and prints the answer with the library's trailers. */
  private <T extends Message> Reply<T> call(String what, Intent intent, Supplier<Reply<T>> call) {
    story.sent(what + ", idempotency-key: " + intent);
    Reply<T> reply = call.get();
    story.cameBack(
        TextFormat.printer().emittingSingleLine(true).printToString(reply.response())
            + (reply.replayed() ? ", idempotency-replayed: true" : "")
            + reply
                .status()
                .map(status -> ", idempotency-status: " + status.name().toLowerCase(Locale.ROOT))
                .orElse(""));
    return reply;
  }

  private OrderServiceBlockingStub orders(String user) {
    return OrderServiceGrpc.newBlockingStub(channel)
        .withInterceptors(as(user))
        .withDeadlineAfter(20, TimeUnit.SECONDS);
  }

  private ShipmentServiceBlockingStub shipments() {
    return ShipmentServiceGrpc.newBlockingStub(channel)
        .withInterceptors(as("alice"))
        .withDeadlineAfter(20, TimeUnit.SECONDS);
  }

  private PaymentServiceBlockingStub payments() {
    return PaymentServiceGrpc.newBlockingStub(channel)
        .withInterceptors(as("alice"))
        .withDeadlineAfter(20, TimeUnit.SECONDS);
  }

  private static BasicAuthenticationInterceptor as(String user) {
    return new BasicAuthenticationInterceptor(user, "password of " + user);
  }

  private void rows(String table, int expected) {
    int actual = number("SELECT count(*) FROM shop." + table);
    story.expect("rows in shop.%s: %d".formatted(table, actual), actual == expected);
  }

  private int users() {
    return number("SELECT count(DISTINCT user_id) FROM shop.orders");
  }

  private int number(String query) {
    Integer number = rows.queryForObject(query, Integer.class);
    return number == null ? -1 : number;
  }

  private static boolean isReplay(Reply<?> retry, Reply<?> first) {
    return !first.replayed() && retry.replayed() && retry.response().equals(first.response());
  }

  private static boolean isStatus(Reply<?> reply, Reply.Status status) {
    return reply.status().filter(status::equals).isPresent();
  }

  private Status.Code code(String what, Intent intent, Supplier<?> call) {
    story.sent(what + ", idempotency-key: " + intent);
    try {
      Object unused = call.get();
      return Status.Code.OK;
    } catch (StatusRuntimeException refused) {
      story.cameBack(String.valueOf(refused.getMessage()));
      return refused.getStatus().getCode();
    }
  }
}
