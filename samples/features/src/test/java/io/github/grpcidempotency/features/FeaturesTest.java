package io.github.grpcidempotency.features;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import com.google.protobuf.Int64Value;
import io.github.grpcidempotency.client.IdempotencyClientInterceptor;
import io.github.grpcidempotency.client.Intent;
import io.github.grpcidempotency.client.Reply;
import io.github.grpcidempotency.features.shop.v1.Charge;
import io.github.grpcidempotency.features.shop.v1.CreateOrdersResponse;
import io.github.grpcidempotency.features.shop.v1.CreateShipmentRequest;
import io.github.grpcidempotency.features.shop.v1.ImportOrdersResponse;
import io.github.grpcidempotency.features.shop.v1.Invitation;
import io.github.grpcidempotency.features.shop.v1.Order;
import io.github.grpcidempotency.features.shop.v1.OrderResult;
import io.github.grpcidempotency.features.shop.v1.OrderResult.ResultCase;
import io.github.grpcidempotency.features.shop.v1.OrderServiceGrpc;
import io.github.grpcidempotency.features.shop.v1.OrderServiceGrpc.OrderServiceBlockingStub;
import io.github.grpcidempotency.features.shop.v1.Shipment;
import io.github.grpcidempotency.features.shop.v1.Token;
import io.github.grpcidempotency.testing.PostgresFixture;
import io.github.grpcidempotency.work.WorkResult;
import io.grpc.BindableService;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.grpc.stub.StreamObserver;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Runs every sample on a real database and over a socket. */
@Timeout(300)
class FeaturesTest {
  @RegisterExtension
  static final PostgresFixture database =
      PostgresFixture.withRoles("shop_owner", "shop_app").migrate(Shop::migrate).create();

  @Test
  void aTransactionalHandlerTakesEffectOnce() throws Exception {
    List<Reply<Order>> replies = TransactionalHandler.run(database.pool());

    assertRetryGotTheFirstAnswer(replies);
    assertThat(one("SELECT count(*) FROM shop.orders")).isEqualTo("1");
  }

  @Test
  void aJoinedHandlerTakesEffectOnce() throws Exception {
    List<Reply<Shipment>> replies = JoinedHandler.run(database.pool());

    assertRetryGotTheFirstAnswer(replies);
    assertThat(one("SELECT count(*) FROM shop.shipments")).isEqualTo("1");
  }

  @Test
  void bothRunsOfAReservedHandlerSendTheSameOutboundKey() throws Exception {
    List<String> keys = new ArrayList<>();
    OutboundKey.Provider losesTheFirstAnswer =
        (cents, key) -> {
          keys.add(key);
          if (keys.size() == 1) {
            throw new IOException("the answer is lost");
          }
          return "charge of " + key;
        };

    Reply<Charge> reply = OutboundKey.run(database.pool(), losesTheFirstAnswer);

    assertThat(keys).hasSize(2).containsOnly(keys.get(0));
    assertThat(reply.response().getId()).isEqualTo("charge of " + keys.get(0));
  }

  @Test
  void duplicatesOfARunningCallGetItsAnswer() throws Exception {
    List<Reply<Charge>> replies = WaitingDuplicate.run(database.pool());

    assertThat(replies).extracting(Reply::response).containsOnly(replies.get(0).response());
    assertThat(replies).extracting(Reply::replayed).containsOnlyOnce(false).hasSize(3);
  }

  @Test
  void onlyATerminalErrorIsRepeatedToARetry() throws Exception {
    assertThat(Errors.run(database.pool()))
        .containsExactly(
            Status.Code.FAILED_PRECONDITION,
            Status.Code.FAILED_PRECONDITION,
            Status.Code.UNAVAILABLE,
            Status.Code.OK);
    assertThat(one("SELECT count(*) FROM shop.orders")).isEqualTo("1");
  }

  @Test
  void aReplayHasTheStatusOfTheOutbox() throws Exception {
    List<Reply<Order>> replies = OutboxStatus.run(database.pool());

    assertRetryGotTheFirstAnswer(replies);
    assertThat(replies)
        .extracting(reply -> reply.status().orElseThrow())
        .containsExactly(Reply.Status.PROCESSING, Reply.Status.COMPLETED);
  }

  @Test
  void theSameContentIsTheSameOperation() throws Exception {
    List<Reply<Invitation>> replies = KeyFromRequest.run(database.pool());

    assertRetryGotTheFirstAnswer(replies);
    assertThat(one("SELECT count(*) FROM shop.invitations")).isEqualTo("1");
  }

  /** The example that GitHub publishes. */
  @Test
  void aSignedEventIsRecordedOnceAndAForgedOneIsRefused() throws Exception {
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec("It's a Secret to Everybody".getBytes(UTF_8), "HmacSHA256"));
    Function<ByteString, String> sign =
        body -> HexFormat.of().formatHex(mac.doFinal(body.toByteArray()));
    String signature = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";

    assertRetryGotTheFirstAnswer(SignedEvent.run(database.pool(), sign, signature));
    assertThatThrownBy(() -> SignedEvent.run(database.pool(), sign, "sha256=00"))
        .hasMessageContaining("UNAUTHENTICATED");
    assertThat(one("SELECT count(*) FROM shop.events")).isEqualTo("1");
    assertThat(
            one(
                "SELECT idempotency_key FROM idempotency.idempotency_keys WHERE procedure ="
                    + " 'shop.v1.EventService/Ingest'"))
        .endsWith("github:72d3162e");
  }

  @Test
  void aReplayLacksAnOmittedField() throws Exception {
    List<Reply<Token>> replies = OmittedField.run(database.pool());

    Token first = replies.get(0).response();
    assertThat(first.getSecret()).isNotEmpty();
    assertThat(replies.get(1).response()).isEqualTo(first.toBuilder().clearSecret().build());
    assertThat(replies.get(1).omittedFields()).containsExactly("secret");
    assertThat(recorded()).doesNotContain("secret-");
  }

  @Test
  void anEncryptedAnswerIsReplayedInFull() throws Exception {
    List<Reply<Token>> replies = EncryptedAnswer.run(database.pool());

    assertRetryGotTheFirstAnswer(replies);
    assertThat(replies.get(1).response().getSecret()).isNotEmpty();
    assertThat(recorded()).doesNotContain("secret-");
  }

  @Test
  void theGuardDeniesAReplayAfterTheRevocation() throws Exception {
    StatusRuntimeException denied = GuardedReplay.run(database.pool());

    assertThat(denied.getStatus().getCode()).isEqualTo(Status.Code.PERMISSION_DENIED);
  }

  @Test
  void anAnswerIsRecoveredByMethodAndKey() throws Exception {
    RecoveredAnswer.Answers answers = RecoveredAnswer.run(database.pool());

    assertThat(answers.recovered()).isEqualTo(answers.first());
  }

  @Test
  void aJobThatTwoSchedulersStartRunsOnce() throws Exception {
    TransactionalHandler.run(database.pool());

    List<WorkResult<Int64Value>> results = WorkWithoutGrpc.run(database.pool());

    assertThat(results).extracting(WorkResult::value).containsOnly(Int64Value.of(1));
    assertThat(results).extracting(WorkResult::replayed).containsExactly(false, true);
  }

  @Test
  void anImportThatIsSentAgainRunsTheRemainingLines() throws Exception {
    List<ImportOrdersResponse> imports = ManyKeysInOneCall.run(database.pool());

    assertThat(imports.get(1).getOrdersList())
        .hasSize(3)
        .startsWith(imports.get(0).getOrdersList().toArray(Order[]::new));
    assertThat(one("SELECT count(*) FROM shop.orders")).isEqualTo("3");
  }

  @Test
  void everyLineOfABatchHasOneResultHoweverOftenTheBatchIsSent() throws Exception {
    List<CreateOrdersResponse> batches = PartialBatch.run(database.pool());

    assertThat(batches)
        .allSatisfy(
            batch ->
                assertThat(batch.getResultsList())
                    .extracting(OrderResult::getResultCase)
                    .containsExactly(ResultCase.ORDER, ResultCase.ERROR, ResultCase.ORDER));
    assertThat(batches)
        .extracting(batch -> batch.getResults(0))
        .containsOnly(batches.get(0).getResults(0));
    assertThat(batches)
        .extracting(batch -> batch.getResults(2))
        .containsOnly(batches.get(0).getResults(2));
    assertThat(batches.get(2).getResults(1).getError().getMessage()).isEqualTo("out of stock");
    assertThat(one("SELECT count(*) FROM shop.orders")).isEqualTo("2");
  }

  @Test
  void anUploadThatIsSentAgainRepeatsNoElement() throws Exception {
    List<Reply<Order>> replies = ChunkKeys.run(database.pool());

    assertThat(replies).extracting(Reply::replayed).containsExactly(true, true, false);
    assertThat(one("SELECT count(*) FROM shop.orders")).isEqualTo("3");
  }

  @Test
  void aRestHandlerInTheSameJvmIsProtectedByItsHeader() throws Exception {
    List<HttpResponse<String>> responses =
        RestInProcess.run(database.pool(), "\"" + UUID.randomUUID() + "\"");

    assertThat(responses).extracting(HttpResponse::statusCode).containsExactly(201, 201, 400);
    assertThat(responses.get(1).body()).isEqualTo(responses.get(0).body());
    assertThat(responses.get(1).headers().firstValue("idempotency-replayed")).contains("true");
    assertThat(one("SELECT count(*) FROM shop.orders")).isEqualTo("1");
  }

  @Test
  void aServiceWithoutTheInterceptorIsFoundByAnAnswerThatIsNotProtected() throws Exception {
    BindableService orders =
        new OrderServiceGrpc.OrderServiceImplBase() {
          @Override
          public void createShipment(
              CreateShipmentRequest request, StreamObserver<Shipment> observer) {
            Shop.answer(observer, Shipment.getDefaultInstance());
          }
        };
    Server server = InProcessServerBuilder.forName("bare").addService(orders).build().start();
    ManagedChannel channel =
        InProcessChannelBuilder.forName("bare")
            .intercept(IdempotencyClientInterceptor.create())
            .build();
    try {
      OrderServiceBlockingStub stub = Intent.create().on(OrderServiceGrpc.newBlockingStub(channel));
      for (int attempt = 0; attempt < 2; attempt++) {
        Reply<Shipment> reply =
            Reply.blocking(
                stub, ships -> ships.createShipment(CreateShipmentRequest.getDefaultInstance()));
        assertThat(reply.replayed()).isFalse();
        assertThat(reply.isProtected()).isFalse();
      }
    } finally {
      channel.shutdownNow();
      server.shutdownNow();
    }
  }

  @Test
  void theMdcOfACallIsThereAfterAWait() throws Exception {
    assertThat(LogContext.run(database.pool())).containsExactlyInAnyOrder("one", "two");
  }

  @Test
  void aClientRetriesUntilTheServerAnswers() throws Exception {
    assertThat(RetryingClient.run(database.pool())).isEqualTo("bought: book");
    assertThat(one("SELECT count(*) FROM shop.orders")).isEqualTo("1");
  }

  @Test
  void anIntentIsCarriedOut() throws Exception {
    assertThat(IntentClient.run(database.pool())).isTrue();
    assertThat(one("SELECT outcome FROM shop.purchases")).isEqualTo("bought: book");
    assertThat(one("SELECT count(*) FROM shop.orders")).isEqualTo("1");
  }

  @Test
  void metricsCountAReplay() throws Exception {
    SimpleMeterRegistry registry = new SimpleMeterRegistry();

    assertThat(Metrics.run(database.pool(), registry)).hasSize(2);

    assertThat(registry.get("idempotency.replays").tag("outcome", "response").counter().count())
        .isEqualTo(1);
  }

  @Test
  void theStoreInMemoryLetsARecordExpireAtOnce() throws Exception {
    List<Reply<Charge>> replies = InMemoryStore.run();

    assertRetryGotTheFirstAnswer(replies.subList(0, 2));
    assertThat(replies.get(2).response()).isNotEqualTo(replies.get(0).response());
  }

  private static void assertRetryGotTheFirstAnswer(List<? extends Reply<?>> replies) {
    assertThat(replies).extracting(Reply::replayed).containsExactly(false, true);
    assertThat((Object) replies.get(1).response()).isEqualTo(replies.get(0).response());
  }

  /** Returns the bytes of all recorded answers, as text. */
  private static String recorded() throws SQLException {
    return one(
        "SELECT string_agg(encode(response_bytes, 'escape'), '') FROM"
            + " idempotency.idempotency_keys");
  }

  /** Reads one value as a superuser, who sees past row-level security. */
  private static String one(String query) throws SQLException {
    try (Connection superuser = database.superuser().getConnection();
        ResultSet result = superuser.createStatement().executeQuery(query)) {
      result.next();
      return result.getString(1);
    }
  }
}
