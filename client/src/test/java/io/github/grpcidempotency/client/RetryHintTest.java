package io.github.grpcidempotency.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.grpcidempotency.client.testing.v1.Order;
import io.github.grpcidempotency.client.testing.v1.OrderRequest;
import io.github.grpcidempotency.client.testing.v1.OrderServiceGrpc;
import io.github.grpcidempotency.client.testing.v1.OrderServiceGrpc.OrderServiceBlockingStub;
import io.github.grpcidempotency.proto.WireNames;
import io.github.grpcidempotency.shop.EchoServer;
import io.github.grpcidempotency.shop.EchoServer.Answer;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.MetadataUtils;
import java.io.IOException;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A call that is sent again says so, and a call that is sent first does not. */
class RetryHintTest {
  private static final OrderRequest REQUEST = OrderRequest.newBuilder().setName("tea").build();
  private static final String FIRST = "none";
  private static final String RETRY = "true";

  private final EchoServer server = new EchoServer();
  private final OrderServiceBlockingStub stub =
      OrderServiceGrpc.newBlockingStub(
          server.channel(channel -> channel.intercept(IdempotencyClientInterceptor.create())));
  private final RetryingCaller caller =
      RetryingCaller.builder().backoff(Duration.ofMillis(1), Duration.ofMillis(20)).build();

  @AfterEach
  void close() {
    server.close();
  }

  @Test
  void everyAttemptOfACallerButTheFirstIsARetry() {
    server.answering(Answer.of(Status.UNAVAILABLE), Answer.of(Status.ABORTED));

    Reply<Order> reply = caller.call(stub, OrderServiceGrpc.getCreateOrderMethod(), REQUEST);

    assertThat(reply.response().getName()).isEqualTo("tea");
    assertHeard(FIRST, RETRY, RETRY);
  }

  @Test
  void attemptsThatCouldNotBeSentDoNotMakeTheNextOneARetry() throws Exception {
    int port = freePort();
    ManagedChannel channel =
        NettyChannelBuilder.forAddress("localhost", port).usePlaintext().build();
    try {
      OrderServiceBlockingStub nobody = OrderServiceGrpc.newBlockingStub(channel);
      Intent intent = Intent.create();
      assertThatThrownBy(() -> intent.on(nobody).createOrder(REQUEST))
          .isInstanceOf(StatusRuntimeException.class);
      CompletableFuture<Reply<Order>> reply =
          caller.callAsync(intent.on(nobody), OrderServiceGrpc.getCreateOrderMethod(), REQUEST);

      try (EchoServer late = new EchoServer(port)) {
        assertThat(reply.get(1, TimeUnit.MINUTES).response().getName()).isEqualTo("tea");
        assertThat(late.seen()).extracting(EchoServer.Seen::hint).containsExactly(FIRST);
      }
    } finally {
      channel.shutdownNow();
    }
  }

  @Test
  void anIntentThatIsCalledAgainAfterAFailureIsARetry() {
    server.answering(Answer.of(Status.ABORTED));
    Intent intent = Intent.create();

    assertThatThrownBy(() -> intent.on(stub).createOrder(REQUEST))
        .isInstanceOf(StatusRuntimeException.class);
    assertThat(intent.on(stub).createOrder(REQUEST).getName()).isEqualTo("tea");

    assertHeard(FIRST, RETRY);
  }

  @Test
  void aRetryWithTheKeyInItsRequestIsMarkedToo() {
    Intent intent = Intent.create();

    Order first = intent.on(stub).createWithRequestId(REQUEST);
    Order again = intent.on(stub).createWithRequestId(REQUEST);

    assertThat(again).isEqualTo(first);
    assertHeard(FIRST, RETRY);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aStoredIntentIsARetryIfItIsMarkedAsSentBefore(boolean sentBefore) {
    Intent read = Intent.parse(Intent.create().toString());
    Intent intent = sentBefore ? read.sentBefore() : read;

    assertThat(intent.on(stub).createOrder(REQUEST).getName()).isEqualTo("tea");

    assertThat(intent).isEqualTo(read);
    assertHeard(sentBefore ? RETRY : FIRST);
  }

  @Test
  void otherIntentsAndCallsWithoutOneAreNoRetries() {
    assertThat(Intent.create().on(stub).createOrder(REQUEST).getName()).isEqualTo("tea");
    assertThat(Intent.create().on(stub).createOrder(REQUEST).getName()).isEqualTo("tea");
    assertThat(stub.createOrder(REQUEST).getName()).isEqualTo("tea");
    assertThat(stub.createOrder(REQUEST).getName()).isEqualTo("tea");

    assertHeard(FIRST, FIRST, FIRST, FIRST);
  }

  @Test
  void theUsersRetryHeaderIsNotChanged() {
    Metadata own = new Metadata();
    own.put(Metadata.Key.of(WireNames.RETRY, Metadata.ASCII_STRING_MARSHALLER), "false");

    Order order =
        Intent.create()
            .sentBefore()
            .on(stub.withInterceptors(MetadataUtils.newAttachHeadersInterceptor(own)))
            .createOrder(REQUEST);

    assertThat(order.getName()).isEqualTo("tea");
    assertHeard("false");
  }

  private void assertHeard(String... hints) {
    assertThat(server.seen()).extracting(EchoServer.Seen::hint).containsExactly(hints);
  }

  private static int freePort() throws IOException {
    try (ServerSocket free = new ServerSocket(0)) {
      return free.getLocalPort();
    }
  }
}
