package io.github.grpcidempotency.features;

import io.github.grpcidempotency.client.CallFailedException;
import io.github.grpcidempotency.client.Intent;
import io.github.grpcidempotency.client.Reply;
import io.github.grpcidempotency.client.intents.IntentCallback;
import io.github.grpcidempotency.client.intents.IntentStore;
import io.github.grpcidempotency.client.intents.IntentWorker;
import io.github.grpcidempotency.features.shop.v1.CreateOrderRequest;
import io.github.grpcidempotency.features.shop.v1.Order;
import io.github.grpcidempotency.features.shop.v1.OrderServiceGrpc;
import java.time.Duration;
import javax.sql.DataSource;
import org.jdbi.v3.core.Jdbi;

/** A client stores intents in its database, and sends them with the same key after a crash. */
final class IntentClient implements IntentCallback<Order> {
  private final Jdbi jdbi;
  private final IntentStore intents;

  private IntentClient(DataSource pool) {
    this.jdbi = Jdbi.create(pool);
    this.intents = IntentStore.postgres(pool);
  }

  /** Writes the decision and the intent in one transaction. */
  private void decide(String item) throws Exception {
    CreateOrderRequest request = CreateOrderRequest.newBuilder().setItem(item).build();
    jdbi.useTransaction(
        database -> {
          Intent intent =
              intents.write(
                  database.getConnection(),
                  "shop",
                  OrderServiceGrpc.getCreateOrderMethod(),
                  request);
          database.execute("INSERT INTO shop.purchases VALUES (?, 'decided')", intent.toString());
        });
  }

  /** May be called twice with the same answer. */
  @Override
  public void answered(Intent intent, Reply<Order> reply) {
    note(intent, "bought: " + reply.response().getItem());
  }

  @Override
  public void failed(Intent intent, CallFailedException failure) {
    note(intent, "failed: " + failure.outcome());
  }

  private void note(Intent intent, String outcome) {
    String update = "UPDATE shop.purchases SET outcome = ? WHERE intent = ?";
    jdbi.useHandle(database -> database.execute(update, outcome, intent.toString()));
  }

  /** Returns whether all intents have been answered. */
  static boolean run(DataSource pool) throws Exception {
    IntentClient client = new IntentClient(pool);
    client.decide("book"); // no server runs yet
    try (Shop shop = Shop.open(pool, new TransactionalHandler());
        IntentWorker worker =
            IntentWorker.builder(client.intents)
                .method(
                    "shop",
                    OrderServiceGrpc.newBlockingStub(shop.channel()),
                    OrderServiceGrpc.getCreateOrderMethod(),
                    client)
                .build()) {
      return worker.drain(Duration.ofMinutes(5)); // a service calls start() instead
    }
  }
}
