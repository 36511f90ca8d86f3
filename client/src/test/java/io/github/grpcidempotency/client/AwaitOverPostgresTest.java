package io.github.grpcidempotency.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.grpcidempotency.client.testing.v1.Order;
import io.github.grpcidempotency.client.testing.v1.OrderRequest;
import io.github.grpcidempotency.client.testing.v1.OrderServiceGrpc;
import io.github.grpcidempotency.client.testing.v1.OrderServiceGrpc.OrderServiceBlockingStub;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A client waits until an outbox is worked off, at a server with the library and its store. */
class AwaitOverPostgresTest {
  private static final OrderRequest REQUEST = OrderRequest.newBuilder().setName("tea").build();

  private static final Databases.Database shop = Databases.packingShop();

  private final CallLog calls = new CallLog();
  private final List<AutoCloseable> open = new ArrayList<>();
  private final RetryingCaller caller =
      RetryingCaller.builder().backoff(Duration.ofMillis(50), Duration.ofMillis(500)).build();

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable resource : open) {
      resource.close();
    }
  }

  @ParameterizedTest
  @CsvSource({"packed, COMPLETED", "out of stock, FAILED"})
  void oneCallWaitsForTheOutbox(String state, Reply.Status status) {
    ShopServer server = closing(ShopServer.packing(shop));
    CompletableFuture<Reply<Order>> reply = start(server);
    await().until(() -> calls.of("WaitOperation") == 1);
    assertThat(reply).isNotDone();

    outbox(state);

    assertThat(reply)
        .succeedsWithin(Duration.ofSeconds(10))
        .satisfies(
            done -> {
              assertThat(done.status()).contains(status);
              assertThat(done.response().getSecret()).isEqualTo("secret");
              assertThat(done.replayed()).isFalse();
            });
    assertThat(server.runs()).isEqualTo(1);
    assertThat(calls.of("CreateOrder")).isEqualTo(1);
    assertThat(calls.of("WaitOperation")).isEqualTo(1);
  }

  private CompletableFuture<Reply<Order>> start(ShopServer server) {
    return caller.callAndAwaitAsync(stub(server), OrderServiceGrpc.getCreateOrderMethod(), REQUEST);
  }

  private OrderServiceBlockingStub stub(ShopServer server) {
    ManagedChannel channel =
        NettyChannelBuilder.forAddress("localhost", server.port())
            .usePlaintext()
            .intercept(calls)
            .build();
    open.add(channel::shutdownNow);
    return OrderServiceGrpc.newBlockingStub(channel);
  }

  private <C extends AutoCloseable> C closing(C resource) {
    open.add(resource);
    return resource;
  }

  private static void outbox(String state) {
    shop.execute("UPDATE shop.outbox SET state = '%s' WHERE state = 'pending'".formatted(state));
  }

  /** Sees every call of a channel. */
  private static final class CallLog implements ClientInterceptor {
    private final List<String> methods = new CopyOnWriteArrayList<>();

    long of(String method) {
      return methods.stream().filter(method::equals).count();
    }

    @Override
    public <RequestT, ResponseT> ClientCall<RequestT, ResponseT> interceptCall(
        MethodDescriptor<RequestT, ResponseT> method, CallOptions options, Channel next) {
      methods.add(String.valueOf(method.getBareMethodName()));
      return next.newCall(method, options);
    }
  }
}
