package io.github.grpcidempotency.features;

import static org.assertj.core.api.Assertions.assertThat;

import com.linecorp.armeria.client.grpc.GrpcClients;
import com.linecorp.armeria.server.Server;
import com.linecorp.armeria.server.grpc.GrpcService;
import io.github.grpcidempotency.features.shop.v1.CreateOrderRequest;
import io.github.grpcidempotency.features.shop.v1.Order;
import io.github.grpcidempotency.features.shop.v1.OrderServiceGrpc;
import io.github.grpcidempotency.features.shop.v1.OrderServiceGrpc.OrderServiceBlockingStub;
import io.github.grpcidempotency.grpc.IdempotencyInterceptor;
import io.github.grpcidempotency.grpc.IdempotencyMetadata;
import io.github.grpcidempotency.postgres.PostgresIdempotencyStore;
import io.github.grpcidempotency.procedure.Procedures;
import io.github.grpcidempotency.testing.PostgresFixture;
import io.grpc.Metadata;
import io.grpc.ServerInterceptors;
import io.grpc.stub.MetadataUtils;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A service behind Armeria, which transcodes HTTP and JSON, and speaks gRPC-Web. */
class GatewayTest {
  @RegisterExtension
  static final PostgresFixture database =
      PostgresFixture.withRoles("shop_owner", "shop_app").migrate(Shop::migrate).create();

  @AutoClose
  private final PostgresIdempotencyStore store =
      PostgresIdempotencyStore.builder(database.pool()).build();

  @AutoClose
  private final IdempotencyInterceptor idempotency =
      IdempotencyInterceptor.builder(
              Procedures.builder().addAnnotated(OrderServiceGrpc.getServiceDescriptor()).build(),
              Shop::caller)
          .store(store)
          .build();

  @AutoClose private final Server gateway = start();

  private Server start() {
    GrpcService orders =
        GrpcService.builder()
            .addService(ServerInterceptors.intercept(new TransactionalHandler(), idempotency))
            .enableHttpJsonTranscoding(true)
            .useBlockingTaskExecutor(true)
            .build();
    Server server = Server.builder().http(0).service(orders).build();
    server.start().join();
    return server;
  }

  @Test
  void theHeaderOfATranscodedRequestIsTheKey() throws Exception {
    String key = UUID.randomUUID().toString();

    HttpResponse<String> first = post(key, "{\"item\": \"book\"}");
    HttpResponse<String> retry = post(key, "{ \"item\":\"book\" }");
    HttpResponse<String> reused = post(key, "{\"item\": \"pot\"}");
    HttpResponse<String> quoted = post("\"" + key + "\"", "{\"item\": \"book\"}");

    assertThat(first.statusCode()).isEqualTo(200);
    assertThat(retry.body()).isEqualTo(first.body());
    assertThat(retry.headers().map())
        .as("Armeria drops trailers")
        .doesNotContainKey("idempotency-replayed");
    assertThat(reused.statusCode()).isEqualTo(400);
    assertThat(reused.body()).contains("IDEMPOTENCY_KEY_REUSED");
    assertThat(quoted.body()).contains("IDEMPOTENCY_KEY_INVALID");
  }

  private HttpResponse<String> post(String key, String json) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(
                URI.create("http://localhost:" + gateway.activeLocalPort() + "/v1/orders"))
            .header("Idempotency-Key", key)
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(json))
            .build();
    return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
  }

  @Test
  void aCallOfGrpcWebIsReplayed() {
    Metadata headers = new Metadata();
    headers.put(IdempotencyMetadata.KEY, UUID.randomUUID().toString());
    AtomicReference<Metadata> trailers = new AtomicReference<>();
    OrderServiceBlockingStub stub =
        GrpcClients.newClient(
                "gproto-web+http://localhost:" + gateway.activeLocalPort(),
                OrderServiceBlockingStub.class)
            .withInterceptors(
                MetadataUtils.newAttachHeadersInterceptor(headers),
                MetadataUtils.newCaptureMetadataInterceptor(new AtomicReference<>(), trailers));
    CreateOrderRequest book = CreateOrderRequest.newBuilder().setItem("book").build();

    Order first = stub.createOrder(book);
    Order retry = stub.createOrder(book);

    assertThat(retry).isEqualTo(first);
    assertThat(Objects.requireNonNull(trailers.get()).get(IdempotencyMetadata.REPLAYED))
        .isEqualTo("true");
  }
}
