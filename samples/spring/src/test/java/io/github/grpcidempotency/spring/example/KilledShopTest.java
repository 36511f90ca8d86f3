package io.github.grpcidempotency.spring.example;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.google.common.util.concurrent.ListenableFuture;
import io.github.grpcidempotency.client.IdempotencyClientInterceptor;
import io.github.grpcidempotency.client.Intent;
import io.github.grpcidempotency.client.Reply;
import io.github.grpcidempotency.client.RetryingCaller;
import io.github.grpcidempotency.spring.example.provider.CardServer;
import io.github.grpcidempotency.spring.example.shop.v1.CreateOrderRequest;
import io.github.grpcidempotency.spring.example.shop.v1.CreatePaymentRequest;
import io.github.grpcidempotency.spring.example.shop.v1.CreateShipmentRequest;
import io.github.grpcidempotency.spring.example.shop.v1.OrderServiceGrpc;
import io.github.grpcidempotency.spring.example.shop.v1.PaymentServiceGrpc;
import io.github.grpcidempotency.spring.example.shop.v1.ShipmentServiceGrpc;
import io.github.grpcidempotency.testing.PostgresFixture;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.grpc.client.interceptor.security.BasicAuthenticationInterceptor;
import org.springframework.grpc.server.lifecycle.GrpcServerLifecycle;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** The application is killed in the middle of three calls, and started again. */
@Tag("torture")
class KilledShopTest {
  private static final Duration PATIENCE = Duration.ofMinutes(1);
  private static final CreateOrderRequest BOOK =
      CreateOrderRequest.newBuilder().setItem("book").build();

  /** The connections of the application. */
  private static final String BACKENDS =
      "pg_stat_activity WHERE datname = current_database() AND usename = 'shop_app'";

  /** The transactions that have written to the shop's tables and wait for writing their record. */
  private static final String RECORDING =
      """
      SELECT DISTINCT waits.pid
        FROM pg_locks waits JOIN pg_locks has ON has.pid = waits.pid
       WHERE NOT waits.granted AND waits.relation = 'idempotency.idempotency_keys'::regclass
         AND has.granted AND has.mode = 'RowExclusiveLock'
         AND has.relation::regclass::text IN ('shop.outbox', 'shop.shipments', 'shop.payments')
      """;

  private final Intent order = Intent.create();
  private final Intent shipment = Intent.create();
  private final Intent payment = Intent.create();

  @Test
  void retriesAfterAKillMakeOneOrderOneShipmentAndOneChargedPayment() throws Exception {
    try (PostgresFixture database = PostgresFixture.withRoles("shop_owner", "shop_app").create();
        CardServer cards = CardServer.start()) {
      PGSimpleDataSource superuser = (PGSimpleDataSource) database.superuser();
      JdbcTemplate rows = new JdbcTemplate(superuser);
      List<String> arguments =
          List.of(
              "--spring.datasource.url=" + superuser.getUrl(),
              "--spring.grpc.server.port=0",
              "--shop.card-company=" + cards.uri());
      String shipped = killWhileItServes(arguments, database, cards);

      await().atMost(PATIENCE).until(() -> count(rows, BACKENDS) == 0);
      assertThat(count(rows, "shop.orders")).as("orders, but for the one to ship").isEqualTo(1);
      assertThat(count(rows, "shop.shipments")).isZero();
      assertThat(count(rows, "shop.payments")).isZero();

      try (ConfigurableApplicationContext restarted =
          SpringApplication.run(ShopApplication.class, arguments.toArray(String[]::new))) {
        ManagedChannel channel = connect(restarted.getBean(GrpcServerLifecycle.class).getPort());
        assertThat(retries(channel, shipped)).noneMatch(Reply::replayed);
        assertThat(retries(channel, shipped)).allMatch(Reply::replayed);
        channel.shutdownNow();
      }

      assertThat(count(rows, "shop.orders")).isEqualTo(2);
      assertThat(count(rows, "shop.outbox")).isEqualTo(2);
      assertThat(count(rows, "shop.shipments")).isEqualTo(1);
      assertThat(rows.queryForList("SELECT charge FROM shop.payments", String.class))
          .hasSize(1)
          .isEqualTo(cards.charges("slow"));
    }
  }

  /**
   * Kills the application when its handlers have done everything, and only the records are missing.
   *
   * @return the id of an order that was there before
   */
  private String killWhileItServes(
      List<String> arguments, PostgresFixture database, CardServer cards) throws Exception {
    JdbcTemplate rows = new JdbcTemplate(database.superuser());
    try (ShopProcess shop = ShopProcess.start(arguments)) {
      ManagedChannel channel = connect(shop.awaitPort());
      String earlier =
          Intent.create().on(OrderServiceGrpc.newBlockingStub(channel)).createOrder(BOOK).getId();
      List<ListenableFuture<?>> calls = new ArrayList<>();
      calls.add(
          payment.on(PaymentServiceGrpc.newFutureStub(channel)).createPayment(paymentFor(earlier)));
      await().atMost(PATIENCE).until(() -> cards.charges("slow").size() == 1);
      withoutRecords(
          database.superuser(),
          () -> {
            cards.answer();
            calls.add(order.on(OrderServiceGrpc.newFutureStub(channel)).createOrder(BOOK));
            calls.add(
                shipment
                    .on(ShipmentServiceGrpc.newFutureStub(channel))
                    .createShipment(shipmentOf(earlier)));
            await().atMost(PATIENCE).until(() -> rows.queryForList(RECORDING).size() == 3);
            shop.kill();
          });
      for (ListenableFuture<?> call : calls) {
        assertThatThrownBy(call::get).hasMessageContaining("UNAVAILABLE");
      }
      channel.shutdownNow();
      return earlier;
    }
  }

  /** Runs while nobody can write a record. */
  private static void withoutRecords(DataSource superuser, Runnable work) {
    new TransactionTemplate(new DataSourceTransactionManager(superuser))
        .executeWithoutResult(
            status -> {
              new JdbcTemplate(superuser)
                  .execute("LOCK TABLE idempotency.idempotency_keys IN SHARE MODE");
              work.run();
            });
  }

  /** Sends the three calls again, each for as long as its key is still that of the dead server. */
  private List<Reply<?>> retries(ManagedChannel channel, String earlier) {
    RetryingCaller caller = RetryingCaller.builder().within(PATIENCE).build();
    return List.of(
        caller.call(
            order.on(OrderServiceGrpc.newBlockingStub(channel)),
            OrderServiceGrpc.getCreateOrderMethod(),
            BOOK),
        caller.call(
            shipment.on(ShipmentServiceGrpc.newBlockingStub(channel)),
            ShipmentServiceGrpc.getCreateShipmentMethod(),
            shipmentOf(earlier)),
        caller.call(
            payment.on(PaymentServiceGrpc.newBlockingStub(channel)),
            PaymentServiceGrpc.getCreatePaymentMethod(),
            paymentFor(earlier)));
  }

  private static CreateShipmentRequest shipmentOf(String order) {
    return CreateShipmentRequest.newBuilder().setOrderId(order).build();
  }

  private static CreatePaymentRequest paymentFor(String order) {
    return CreatePaymentRequest.newBuilder()
        .setOrderId(order)
        .setCents(1999)
        .setCard("slow")
        .build();
  }

  private static ManagedChannel connect(int port) {
    return Grpc.newChannelBuilder("localhost:" + port, InsecureChannelCredentials.create())
        .intercept(
            IdempotencyClientInterceptor.create(),
            new BasicAuthenticationInterceptor("alice", "password of alice"))
        .build();
  }

  private static int count(JdbcTemplate rows, String from) {
    return rows.queryForList("SELECT 1 FROM " + from).size();
  }
}
