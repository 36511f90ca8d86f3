package io.github.grpcidempotency.quickstart;

import com.google.gson.Gson;
import com.google.gson.reflect.TypeToken;
import io.github.grpcidempotency.grpc.IdempotencyMetadata;
import io.github.grpcidempotency.quickstart.orders.v1.OrderServiceGrpc;
import io.github.grpcidempotency.quickstart.orders.v1.OrderServiceGrpc.OrderServiceBlockingStub;
import io.grpc.*;
import io.grpc.stub.MetadataUtils;
import java.util.*;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;

/** A client that sends keys, and whose channel retries calls by itself. */
record OrderClient(ManagedChannel channel, String subject) {
  private static final String SERVICE_CONFIG =
      """
      {"methodConfig": [{
        "name": [{"service": "orders.v1.OrderService"}],
        "retryPolicy": {
          "maxAttempts": 5, "initialBackoff": "0.1s", "maxBackoff": "2s", "backoffMultiplier": 2,
          "retryableStatusCodes": ["UNAVAILABLE", "ABORTED"]}}]}
      """;

  /** An answer, and its trailers. */
  record Reply<T>(T answer, boolean replayed, String status) {}

  static OrderClient connect(int port, String subject) {
    ManagedChannel channel =
        Grpc.newChannelBuilder("localhost:" + port, InsecureChannelCredentials.create())
            .defaultServiceConfig(new Gson().fromJson(SERVICE_CONFIG, new TypeToken<>() {}))
            .build();
    return new OrderClient(channel, subject);
  }

  /** Calls with a key. Use one key for one intent of the user, and the same key in every retry. */
  <T> Reply<T> call(UUID key, Function<OrderServiceBlockingStub, T> method) {
    Metadata headers = new Metadata();
    headers.put(IdempotencyMetadata.KEY, key.toString());
    headers.put(OrderServer.SUBJECT_HEADER, subject);
    AtomicReference<Metadata> trailers = new AtomicReference<>();
    OrderServiceBlockingStub stub =
        OrderServiceGrpc.newBlockingStub(channel)
            .withDeadlineAfter(10, TimeUnit.SECONDS)
            .withInterceptors(
                MetadataUtils.newAttachHeadersInterceptor(headers),
                MetadataUtils.newCaptureMetadataInterceptor(new AtomicReference<>(), trailers));
    T answer = method.apply(stub);
    Metadata received = Objects.requireNonNull(trailers.get());
    boolean replayed = received.containsKey(IdempotencyMetadata.REPLAYED);
    return new Reply<>(answer, replayed, received.get(IdempotencyMetadata.STATUS));
  }
}
