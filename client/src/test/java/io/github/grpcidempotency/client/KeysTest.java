package io.github.grpcidempotency.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.grpcidempotency.client.testing.v1.Order;
import io.github.grpcidempotency.client.testing.v1.OrderRequest;
import io.github.grpcidempotency.client.testing.v1.OrderServiceGrpc;
import io.github.grpcidempotency.client.testing.v1.OrderServiceGrpc.OrderServiceBlockingStub;
import io.github.grpcidempotency.proto.ServedKey;
import io.github.grpcidempotency.shop.EchoServer;
import io.github.grpcidempotency.shop.EchoServer.Seen;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.stub.MetadataUtils;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** What the interceptor puts on the wire, as seen by a server without the library. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class KeysTest {
  private static final OrderRequest REQUEST = OrderRequest.newBuilder().setName("tea").build();

  private final EchoServer server = new EchoServer();
  private final OrderServiceBlockingStub stub = stub(IdempotencyClientInterceptor.create());

  @AfterAll
  void close() {
    server.close();
  }

  @Test
  void aMethodWithTheOptionGetsAUuidOfVersion7() {
    Seen seen = send(OrderServiceBlockingStub::createOrder, REQUEST);

    assertThat(UUID.fromString(seen.key().orElseThrow()).version()).isEqualTo(7);
    assertThat(seen.request()).isEqualTo(REQUEST);
  }

  @Test
  void everyCallWithoutAnIntentGetsItsOwnKey() {
    assertThat(send(OrderServiceBlockingStub::createOrder, REQUEST).key())
        .isNotEqualTo(send(OrderServiceBlockingStub::createOrder, REQUEST).key());
    assertThat(
            send(OrderServiceBlockingStub::createWithRequestId, REQUEST).request().getRequestId())
        .isNotEqualTo(
            send(OrderServiceBlockingStub::createWithRequestId, REQUEST).request().getRequestId());
  }

  @Test
  void theSameIntentIsTheSameKeyWhereverItGoes() {
    Intent intent = Intent.create();
    Intent readAgain = Intent.parse(intent.toString());

    assertThat(send(OrderServiceBlockingStub::createOrder, REQUEST, intent).key())
        .contains(intent.toString());
    assertThat(send(OrderServiceBlockingStub::createOrder, REQUEST, readAgain).key())
        .contains(intent.toString());
    String field =
        send(OrderServiceBlockingStub::createWithRequestId, REQUEST, intent)
            .request()
            .getRequestId();
    assertThat(UUID.fromString(field).version()).isEqualTo(4);
    assertThat(UUID.fromString(field).variant()).isEqualTo(2);
    assertThat(
            send(OrderServiceBlockingStub::createWithRequestId, REQUEST, readAgain)
                .request()
                .getRequestId())
        .isEqualTo(field);
  }

  @Test
  void anIntentWithARandomUuidKeepsItInAField() {
    String random = UUID.randomUUID().toString();

    Seen seen = send(OrderServiceBlockingStub::createWithRequestId, REQUEST, Intent.parse(random));

    assertThat(seen.request().getRequestId()).isEqualTo(random);
  }

  @Test
  void aTextThatIsNotAnIntentCannotBeRead() {
    for (String malformed : new String[] {"", "a b", "é", "line\n", "x".repeat(256)}) {
      assertThatThrownBy(() -> Intent.parse(malformed))
          .isInstanceOf(IllegalArgumentException.class);
    }
    assertThat(Intent.parse("order-7")).isEqualTo(Intent.parse("order-7"));
    assertThat(Intent.parse("order-7").hashCode()).isEqualTo(Intent.parse("order-7").hashCode());
    assertThat(Intent.create()).isNotEqualTo(Intent.create());
  }

  @Test
  void aHeaderThatTheUserHasSetIsNotTouched() {
    Seen seen =
        send(
            OrderServiceBlockingStub::createOrder,
            REQUEST,
            stub.withInterceptors(header("idempotency-key", "mine")));

    assertThat(seen.headers().getAll(metadataKey("idempotency-key"))).containsExactly("mine");
  }

  @Test
  void aHandlerCannotPassOnTheKeyOfTheCallThatItServes() {
    Intent served = Intent.create();
    Context handler = ServedKey.in(Context.current(), served.toString());
    ClientInterceptor forwarding = header("idempotency-key", served.toString());

    handler.run(
        () -> {
          assertThatThrownBy(() -> send(OrderServiceBlockingStub::createOrder, REQUEST, served))
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("CurrentOperation.outboundKey(name)");
          assertThatThrownBy(() -> stub.withInterceptors(forwarding).createOrder(REQUEST))
              .isInstanceOf(IllegalStateException.class);
          assertThatThrownBy(() -> stub.withInterceptors(forwarding).getOrder(REQUEST))
              .isInstanceOf(IllegalStateException.class);
          OrderRequest inField = OrderRequest.newBuilder().setRequestId(served.toString()).build();
          assertThatThrownBy(() -> stub.createWithRequestId(inField))
              .isInstanceOf(IllegalStateException.class);
          assertThat(send(OrderServiceBlockingStub::createOrder, REQUEST).key()).isPresent();
        });
    assertThat(send(OrderServiceBlockingStub::createOrder, REQUEST, served).key())
        .contains(served.toString());
  }

  @Test
  void aFieldOfTheRequestIsFilledInsteadOfTheHeader() {
    Seen requestId = send(OrderServiceBlockingStub::createWithRequestId, REQUEST);
    assertThat(UUID.fromString(requestId.request().getRequestId()).version()).isEqualTo(4);
    assertThat(requestId.key()).isEmpty();
    assertThat(requestId.request().getName()).isEqualTo("tea");

    Seen nested = send(OrderServiceBlockingStub::createWithField, REQUEST);
    assertThat(UUID.fromString(nested.request().getDetail().getToken()).version()).isEqualTo(4);
    assertThat(nested.key()).isEmpty();
  }

  @Test
  void aFieldThatTheUserHasSetIsNotTouched() {
    OrderRequest set =
        OrderRequest.newBuilder()
            .setRequestId("mine")
            .setDetail(OrderRequest.Detail.newBuilder().setToken("mine"))
            .build();

    assertThat(send(OrderServiceBlockingStub::createWithRequestId, set).request()).isEqualTo(set);
    assertThat(send(OrderServiceBlockingStub::createWithField, set).request()).isEqualTo(set);
  }

  @Test
  void aFieldWithPresenceAndAnEmptyValueCountsAsSet() {
    OrderRequest empty = OrderRequest.newBuilder().setPresentToken("").build();

    assertThat(send(OrderServiceBlockingStub::createWithPresentField, empty).request())
        .isEqualTo(empty);
    assertThat(
            send(OrderServiceBlockingStub::createWithPresentField, REQUEST)
                .request()
                .getPresentToken())
        .isNotEmpty();
  }

  @Test
  void theFirstPlaceGetsAKeyOnlyIfNoPlaceHasOne() {
    Seen nothingGiven = send(OrderServiceBlockingStub::createWithHeaderOrField, REQUEST);
    assertThat(nothingGiven.header("x-order-key")).isPresent();
    assertThat(nothingGiven.request()).isEqualTo(REQUEST);

    OrderRequest set =
        REQUEST.toBuilder().setDetail(OrderRequest.Detail.newBuilder().setToken("mine")).build();
    Seen fieldGiven = send(OrderServiceBlockingStub::createWithHeaderOrField, set);
    assertThat(fieldGiven.header("x-order-key")).isEmpty();
    assertThat(fieldGiven.request()).isEqualTo(set);

    Seen headerGiven =
        send(
            OrderServiceBlockingStub::createWithHeaderOrField,
            REQUEST,
            stub.withInterceptors(header("x-order-key", "mine")));
    assertThat(headerGiven.request()).isEqualTo(REQUEST);
  }

  @Test
  void theHeaderThatTheOptionNamesIsUsed() {
    Seen seen = send(OrderServiceBlockingStub::createWithOtherHeader, REQUEST);
    assertThat(UUID.fromString(seen.header("x-order-key").orElseThrow()).version()).isEqualTo(4);
    assertThat(seen.header("x-older-key")).isEmpty();
    assertThat(seen.key()).isEmpty();

    Seen older =
        send(
            OrderServiceBlockingStub::createWithOtherHeader,
            REQUEST,
            stub.withInterceptors(header("x-older-key", "mine")));
    assertThat(older.header("x-order-key")).isEmpty();
  }

  @Test
  void theClientSetsNoKeyIfTheServerComputesIt() {
    OrderRequest assigned = REQUEST.toBuilder().setId(UUID.randomUUID().toString()).build();
    Seen seen = send(OrderServiceBlockingStub::createWithAssignedId, assigned);
    assertThat(seen.header("x-order-key")).isEmpty();
    assertThat(seen.request()).isEqualTo(assigned);

    Seen content = send(OrderServiceBlockingStub::createOfContent, REQUEST);
    assertThat(content.key()).isEmpty();
    assertThat(content.request()).isEqualTo(REQUEST);
  }

  @Test
  void aHeaderGetsAKeyIfTheUserHasNotAssignedAnId() {
    Seen seen = send(OrderServiceBlockingStub::createWithAssignedId, REQUEST);

    assertThat(seen.header("x-order-key")).isPresent();
    assertThat(seen.request()).isEqualTo(REQUEST);
  }

  @Test
  void aCallThatIsChangedBeforeItsRequestIsKnownGetsAKey() {
    int before = server.seen().size();
    ClientCall<OrderRequest, Order> call =
        stub.getChannel()
            .newCall(OrderServiceGrpc.getCreateWithAssignedIdMethod(), CallOptions.DEFAULT);
    CompletableFuture<Status> ended = start(call);

    assertThat(call.isReady()).isTrue();
    call.setMessageCompression(true);
    call.request(1);
    call.request(1);
    call.sendMessage(REQUEST);
    call.halfClose();

    assertThat(ended.join().isOk()).isTrue();
    assertThat(server.seen().get(before).header("x-order-key")).isPresent();
  }

  @Test
  void aCallThatIsCancelledBeforeItsRequestIsKnownEnds() {
    ClientCall<OrderRequest, Order> call =
        stub.getChannel()
            .newCall(OrderServiceGrpc.getCreateWithAssignedIdMethod(), CallOptions.DEFAULT);
    CompletableFuture<Status> ended = start(call);

    call.cancel("on purpose", null);

    assertThat(ended.join().getCode()).isEqualTo(Status.Code.CANCELLED);
  }

  @Test
  void aHeaderGetsAKeyIfAFieldDoesNotAcceptIt() {
    Seen seen = send(OrderServiceBlockingStub::createWithPatternOrHeader, REQUEST);
    assertThat(seen.header("x-order-key")).isPresent();
    assertThat(seen.request()).isEqualTo(REQUEST);

    OrderRequest set =
        REQUEST.toBuilder().setDetail(OrderRequest.Detail.newBuilder().setToken("order-7")).build();
    assertThat(send(OrderServiceBlockingStub::createWithPatternOrHeader, set).header("x-order-key"))
        .isEmpty();
  }

  @Test
  void aMethodThatProhibitsKeysOrHandlesThemItselfGetsNoneNotEvenAnIntents() {
    Intent intent = Intent.create();

    assertThat(send(OrderServiceBlockingStub::refuseKeys, REQUEST).key()).isEmpty();
    assertThat(send(OrderServiceBlockingStub::refuseKeys, REQUEST, intent).key()).isEmpty();
    assertThat(send(OrderServiceBlockingStub::handleKeys, REQUEST, intent).key()).isEmpty();
  }

  @Test
  void aMethodWithoutTheOptionGetsTheKeyOfAnIntentOnly() {
    Intent intent = Intent.create();

    assertThat(send(OrderServiceBlockingStub::getOrder, REQUEST).key()).isEmpty();
    assertThat(send(OrderServiceBlockingStub::getOrder, REQUEST, intent).key())
        .contains(intent.toString());
  }

  @Test
  void aStreamGetsNoKey() {
    int before = server.seen().size();

    assertThat(intent(Intent.create()).watchOrders(REQUEST).next().getName()).isEqualTo("tea");

    assertThat(server.seen().get(before).key()).isEmpty();
  }

  @Test
  void aFormatThatRefusesUuidsGetsKeysOnlyFromTheUsersIntents() {
    assertThat(send(OrderServiceBlockingStub::createOfPattern, REQUEST).key()).isEmpty();
    assertThat(send(OrderServiceBlockingStub::createOpaque, REQUEST).key()).isPresent();

    Intent own = Intent.parse("order-7");
    assertThat(send(OrderServiceBlockingStub::createOfPattern, REQUEST, own).key())
        .contains("order-7");
  }

  @Test
  void twoInterceptorsSetTheSameKeyAsOne() {
    Seen seen =
        send(
            OrderServiceBlockingStub::createOrder,
            REQUEST,
            stub.withInterceptors(IdempotencyClientInterceptor.create()));

    assertThat(seen.headers().getAll(metadataKey("idempotency-key"))).hasSize(1);
  }

  private static CompletableFuture<Status> start(ClientCall<OrderRequest, Order> call) {
    CompletableFuture<Status> ended = new CompletableFuture<>();
    call.start(
        new ClientCall.Listener<>() {
          @Override
          public void onClose(Status status, Metadata trailers) {
            ended.complete(status);
          }
        },
        new Metadata());
    return ended;
  }

  private OrderServiceBlockingStub stub(ClientInterceptor interceptor) {
    return OrderServiceGrpc.newBlockingStub(
        server.channel(channel -> channel.intercept(interceptor)));
  }

  private OrderServiceBlockingStub intent(Intent intent) {
    return intent.on(stub);
  }

  private Seen send(
      BiFunction<OrderServiceBlockingStub, OrderRequest, Order> method, OrderRequest request) {
    return send(method, request, stub);
  }

  private Seen send(
      BiFunction<OrderServiceBlockingStub, OrderRequest, Order> method,
      OrderRequest request,
      Intent intent) {
    return send(method, request, intent(intent));
  }

  private Seen send(
      BiFunction<OrderServiceBlockingStub, OrderRequest, Order> method,
      OrderRequest request,
      OrderServiceBlockingStub on) {
    int before = server.seen().size();
    assertThat(method.apply(on, request).getName()).isEqualTo(request.getName());
    assertThat(server.seen()).hasSize(before + 1);
    return server.seen().get(before);
  }

  private static ClientInterceptor header(String name, String value) {
    Metadata headers = new Metadata();
    headers.put(metadataKey(name), value);
    return MetadataUtils.newAttachHeadersInterceptor(headers);
  }

  private static Metadata.Key<String> metadataKey(String name) {
    return Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER);
  }
}
