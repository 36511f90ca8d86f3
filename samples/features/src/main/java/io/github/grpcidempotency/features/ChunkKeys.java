package io.github.grpcidempotency.features;

import com.github.f4b6a3.uuid.UuidCreator;
import io.github.grpcidempotency.client.Intent;
import io.github.grpcidempotency.client.Reply;
import io.github.grpcidempotency.features.shop.v1.CreateOrderRequest;
import io.github.grpcidempotency.features.shop.v1.Order;
import io.github.grpcidempotency.features.shop.v1.OrderServiceGrpc;
import io.github.grpcidempotency.features.shop.v1.OrderServiceGrpc.OrderServiceBlockingStub;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;

/**
 * One call for each element, instead of a stream of elements. An upload that is sent again repeats
 * no element, wherever it was interrupted.
 */
final class ChunkKeys {
  private ChunkKeys() {}

  /** The upload and the number of the element are its key, the same in every attempt. */
  private static Intent intent(UUID upload, int number) {
    return Intent.parse(UuidCreator.getNameBasedSha1(upload, "chunk " + number).toString());
  }

  private static List<Reply<Order>> send(
      OrderServiceBlockingStub stub, UUID upload, List<String> items) {
    List<Reply<Order>> replies = new ArrayList<>();
    for (String item : items) {
      CreateOrderRequest request = CreateOrderRequest.newBuilder().setItem(item).build();
      replies.add(
          Reply.blocking(
              intent(upload, replies.size()).on(stub), orders -> orders.createOrder(request)));
    }
    return replies;
  }

  /** Sends two elements of three, and then all three again, as after a crash. */
  static List<Reply<Order>> run(DataSource pool) throws IOException {
    UUID upload = UuidCreator.getTimeOrderedEpoch(); // is stored before the first call
    try (Shop shop = Shop.open(pool, new TransactionalHandler())) {
      OrderServiceBlockingStub stub = OrderServiceGrpc.newBlockingStub(shop.channel());
      send(stub, upload, List.of("tea", "cup"));
      return send(stub, upload, List.of("tea", "cup", "pot"));
    }
  }
}
