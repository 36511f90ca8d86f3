package io.github.grpcidempotency.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.grpcidempotency.client.testing.v1.Order;
import io.github.grpcidempotency.client.testing.v1.OrderRequest;
import io.github.grpcidempotency.client.testing.v1.OrderServiceGrpc;
import io.github.grpcidempotency.shop.Databases;
import io.github.grpcidempotency.shop.EchoServer;
import io.github.grpcidempotency.shop.ShopServer;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.StatusRuntimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** What the trailers of a real server say, beside the response, for every kind of stub. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RepliesTest {
  private static final OrderRequest REQUEST = OrderRequest.newBuilder().setName("tea").build();

  private final ShopServer server = new ShopServer(Databases.shop());
  private final ManagedChannel channel =
      server.channel(builder -> builder.intercept(IdempotencyClientInterceptor.create()));

  @BeforeAll
  void warmUp() {
    assertThat(OrderServiceGrpc.newBlockingStub(channel).createOrder(REQUEST).getName())
        .isEqualTo("tea");
  }

  @AfterAll
  void close() {
    server.close();
  }

  @Test
  void aBlockingCallHasItsReplyBesideTheResponse() {
    Intent intent = Intent.create();

    assertFirstAndReplay(blocking(intent), blocking(intent));
  }

  @Test
  void aFutureHasItsReplyToo() throws Exception {
    Intent intent = Intent.create();

    assertFirstAndReplay(future(intent).get(), future(intent).get());
  }

  @Test
  void anErrorOfTheCallIsThrownUnchanged() {
    OrderRequest nameless = OrderRequest.getDefaultInstance();

    assertThatThrownBy(
            () ->
                Reply.blocking(
                    OrderServiceGrpc.newBlockingStub(channel), stub -> stub.createOrder(nameless)))
        .isInstanceOf(StatusRuntimeException.class)
        .hasMessageContaining("an order has a name");
    assertThatThrownBy(
            () ->
                Reply.future(
                        OrderServiceGrpc.newFutureStub(channel), stub -> stub.createOrder(nameless))
                    .get())
        .isInstanceOf(ExecutionException.class)
        .cause()
        .isInstanceOf(StatusRuntimeException.class)
        .hasMessageContaining("an order has a name");
  }

  @Test
  void aCancelledFutureCancelsItsCall() {
    try (EchoServer silent = new EchoServer().answering(EchoServer.Answer.none())) {
      ManagedChannel toSilent = silent.channel(builder -> builder);
      CompletableFuture<Reply<Order>> reply =
          Reply.future(OrderServiceGrpc.newFutureStub(toSilent), stub -> stub.createOrder(REQUEST));
      assertThat(reply).isNotDone();

      assertThat(reply.cancel(true)).isTrue();

      toSilent.shutdown();
      assertThat(awaitTermination(toSilent)).isTrue();
    }
  }

  @Test
  void aServerWithoutTheLibraryHasAResponseOnly() {
    try (EchoServer plain = new EchoServer()) {
      Reply<Order> reply =
          Reply.blocking(
              OrderServiceGrpc.newBlockingStub(plain.channel(builder -> builder)),
              stub -> stub.createOrder(REQUEST));

      assertThat(reply.response().getName()).isEqualTo("tea");
      assertThat(reply.status()).isEmpty();
      assertThat(reply.replayed()).isFalse();
      assertThat(reply.reconstructed()).isFalse();
      assertThat(reply.operationId()).isEmpty();
      assertThat(reply.expires()).isEmpty();
      assertThat(reply.omittedFields()).isEmpty();
    }
  }

  @Test
  void malformedAndUnknownTrailersAreIgnored() {
    Metadata trailers = new Metadata();
    trailers.put(ascii("idempotency-status"), "pondering");
    trailers.put(ascii("idempotency-operation"), "no uuid");
    trailers.put(ascii("idempotency-expires"), "soon");
    trailers.put(ascii("idempotency-replayed"), "maybe");
    trailers.put(ascii("idempotency-reconstructed"), "true");

    Reply<String> reply = Reply.of("secret", trailers);

    assertThat(reply.status()).contains(Reply.Status.PROCESSING);
    assertThat(reply.operationId()).isEmpty();
    assertThat(reply.expires()).isEmpty();
    assertThat(reply.replayed()).isFalse();
    assertThat(reply.reconstructed()).isTrue();
    assertThat(reply).asString().contains("PROCESSING").doesNotContain("secret");
  }

  private void assertFirstAndReplay(Reply<Order> first, Reply<Order> replay) {
    assertThat(first.replayed()).isFalse();
    assertThat(first.status()).contains(Reply.Status.COMPLETED);
    assertThat(first.operationId()).isPresent();
    assertThat(first.expires().orElseThrow())
        .isBetween(
            Instant.now().plus(Duration.ofHours(23)), Instant.now().plus(Duration.ofHours(25)));
    assertThat(first.omittedFields()).isEmpty();
    assertThat(first.response().getSecret()).isEqualTo("secret");

    assertThat(replay.replayed()).isTrue();
    assertThat(replay.status()).contains(Reply.Status.COMPLETED);
    assertThat(replay.operationId()).isEqualTo(first.operationId());
    assertThat(replay.expires()).isEqualTo(first.expires());
    assertThat(replay.omittedFields()).containsExactly("secret");
    assertThat(replay.response()).isEqualTo(first.response().toBuilder().clearSecret().build());
  }

  private Reply<Order> blocking(Intent intent) {
    return Reply.blocking(
        intent.on(OrderServiceGrpc.newBlockingStub(channel)), stub -> stub.createOrder(REQUEST));
  }

  private CompletableFuture<Reply<Order>> future(Intent intent) {
    return Reply.future(
        intent.on(OrderServiceGrpc.newFutureStub(channel)), stub -> stub.createOrder(REQUEST));
  }

  private static boolean awaitTermination(ManagedChannel channel) {
    try {
      return channel.awaitTermination(10, TimeUnit.SECONDS);
    } catch (InterruptedException interrupt) {
      throw new IllegalStateException(interrupt);
    }
  }

  private static Metadata.Key<String> ascii(String name) {
    return Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER);
  }
}
