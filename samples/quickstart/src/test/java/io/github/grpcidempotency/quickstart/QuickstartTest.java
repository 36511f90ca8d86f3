package io.github.grpcidempotency.quickstart;

import static org.assertj.core.api.Assertions.assertThat;

import com.github.f4b6a3.uuid.UuidCreator;
import com.zaxxer.hikari.HikariDataSource;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.quickstart.OrderClient.Reply;
import io.github.grpcidempotency.quickstart.orders.v1.CreateOrderRequest;
import io.github.grpcidempotency.quickstart.orders.v1.Order;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.Test;

class QuickstartTest {
  private static final String SUBJECT = "auth0|alice";

  @Test
  void everyRetryGetsTheFirstAnswerAndLeavesNoSecondRow() throws Exception {
    Database database = Database.embedded();

    assertThat(Quickstart.play(database)).isTrue();

    assertThat(count(database, "shop.orders")).isEqualTo(1);
    assertThat(count(database, "shop.outbox")).isEqualTo(1);
    assertThat(count(database, "shop.shipments")).isEqualTo(1);
    assertThat(count(database, "idempotency.idempotency_keys WHERE completed IS NOT NULL"))
        .isEqualTo(3);
    assertThat(
            count(
                database,
                "shop.orders o JOIN idempotency.idempotency_keys k ON k.order_id = o.id"
                    + " WHERE k.user_uuid = '%1$s' AND o.user_id = '%1$s'"
                        .formatted(Caller.ofSubject(SUBJECT).userId())))
        .isEqualTo(1);
  }

  @Test
  void theChannelSendsACallAgainWhoseResponseIsLost() throws Exception {
    Database database = Database.embedded();
    try (HikariDataSource owner = database.pool("shop_owner")) {
      Database.migrate(owner);
    }
    LossyNetwork network = new LossyNetwork();
    CreateOrderRequest book = CreateOrderRequest.newBuilder().setItem("book").build();
    try (HikariDataSource pool = database.pool("shop_app")) {
      OrderServer server = OrderServer.start(pool, network);
      OrderClient client = OrderClient.connect(server.server().getPort(), SUBJECT);

      Reply<Order> reply =
          client.call(UuidCreator.getTimeOrderedEpoch(), stub -> stub.createOrder(book));

      assertThat(network.calls).hasValue(2);
      assertThat(reply.replayed()).isTrue();
      assertThat(reply.answer().getItem()).isEqualTo("book");
      assertThat(count(database, "shop.orders")).isEqualTo(1);
      client.channel().shutdownNow();
      server.stop();
    }
  }

  /** Counts as a superuser, who sees past row-level security. */
  private static int count(Database database, String rows) throws SQLException {
    try (Connection superuser = DriverManager.getConnection(database.url(), "postgres", "");
        Statement statement = superuser.createStatement();
        ResultSet result = statement.executeQuery("SELECT count(*) FROM " + rows)) {
      result.next();
      return result.getInt(1);
    }
  }
}
