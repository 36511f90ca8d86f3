package io.github.grpcidempotency.features;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.github.grpcidempotency.features.shop.v1.CreateOrderRequest;
import io.github.grpcidempotency.features.shop.v1.Order;
import io.github.grpcidempotency.features.shop.v1.OrderServiceGrpc;
import io.github.grpcidempotency.features.shop.v1.OrderServiceGrpc.OrderServiceBlockingStub;
import io.github.grpcidempotency.grpc.IdempotencyInterceptor;
import io.github.grpcidempotency.grpc.IdempotencyMetadata;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import io.github.grpcidempotency.procedure.Procedures;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.grpc.stub.MetadataUtils;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;

/**
 * A REST handler that calls the service in its own JVM: the same interceptor protects the calls.
 */
final class RestInProcess {
  private final OrderServiceBlockingStub orders;

  private RestInProcess(OrderServiceBlockingStub orders) {
    this.orders = orders;
  }

  private void createOrder(HttpExchange exchange) throws IOException {
    String item = new String(exchange.getRequestBody().readAllBytes(), UTF_8);
    AtomicReference<Metadata> trailers = new AtomicReference<>();
    OrderServiceBlockingStub stub =
        orders.withInterceptors(
            MetadataUtils.newAttachHeadersInterceptor(keys(exchange)),
            MetadataUtils.newCaptureMetadataInterceptor(new AtomicReference<>(), trailers));
    try {
      Order order = stub.createOrder(CreateOrderRequest.newBuilder().setItem(item).build());
      Optional.ofNullable(trailers.get()).ifPresent(sent -> copy(sent, exchange));
      answer(exchange, 201, order.getId());
    } catch (StatusRuntimeException refused) {
      answer(exchange, status(refused.getStatus().getCode()), String.valueOf(refused.getMessage()));
    }
  }

  /** Every value is forwarded, so that the server refuses a repeated header. */
  private static Metadata keys(HttpExchange exchange) {
    Metadata headers = new Metadata();
    exchange.getRequestHeaders().getOrDefault("Idempotency-Key", List.of()).stream()
        .map(key -> key.replaceAll("^\"|\"$", "")) // a structured field is quoted
        .forEach(key -> headers.put(IdempotencyMetadata.KEY, key));
    return headers;
  }

  private static void copy(Metadata trailers, HttpExchange exchange) {
    for (String name : trailers.keys()) {
      if (name.startsWith("idempotency-")) {
        String value = trailers.get(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER));
        exchange.getResponseHeaders().add(name, value);
      }
    }
  }

  private static int status(Status.Code code) {
    return switch (code) {
      case INVALID_ARGUMENT -> 400;
      case ABORTED -> 409;
      case UNAVAILABLE -> 503;
      default -> 500;
    };
  }

  private static void answer(HttpExchange exchange, int status, String body) throws IOException {
    byte[] bytes = body.getBytes(UTF_8);
    try (exchange) {
      exchange.sendResponseHeaders(status, bytes.length);
      exchange.getResponseBody().write(bytes);
    }
  }

  /** Sends a request for a book, twice, and then one for a pot with the same key. */
  static List<HttpResponse<String>> run(DataSource pool, String key) throws Exception {
    try (PostgresIdempotencyStore store = PostgresIdempotencyStore.builder(pool).build();
        IdempotencyInterceptor idempotency =
            IdempotencyInterceptor.builder(
                    Procedures.builder()
                        .addAnnotated(OrderServiceGrpc.getServiceDescriptor())
                        .build(),
                    Shop::caller)
                .store(store)
                .build()) {
      Server server =
          InProcessServerBuilder.forName("shop")
              .addService(new TransactionalHandler())
              .intercept(idempotency)
              .build()
              .start();
      ManagedChannel channel = InProcessChannelBuilder.forName("shop").build();
      HttpServer http =
          HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
      http.createContext(
          "/orders", new RestInProcess(OrderServiceGrpc.newBlockingStub(channel))::createOrder);
      http.start();
      try {
        URI orders = URI.create("http://localhost:" + http.getAddress().getPort() + "/orders");
        List<HttpResponse<String>> responses = new ArrayList<>();
        for (String item : List.of("book", "book", "pot")) {
          HttpRequest request =
              HttpRequest.newBuilder(orders)
                  .header("Idempotency-Key", key)
                  .POST(HttpRequest.BodyPublishers.ofString(item))
                  .build();
          responses.add(
              HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()));
        }
        return responses;
      } finally {
        http.stop(0);
        channel.shutdownNow();
        server.shutdownNow();
      }
    }
  }
}
