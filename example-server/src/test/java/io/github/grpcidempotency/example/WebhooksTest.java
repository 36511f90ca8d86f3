package io.github.grpcidempotency.example;

import static io.github.grpcidempotency.example.TestClient.user;
import static io.github.grpcidempotency.example.TestClient.with;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import com.github.f4b6a3.uuid.UuidCreator;
import com.google.rpc.ErrorInfo;
import io.github.grpcidempotency.example.TestClient.Reply;
import io.github.grpcidempotency.example.organization.v1.CreateProjectRequest;
import io.github.grpcidempotency.example.organization.v1.IngestResponse;
import io.github.grpcidempotency.example.organization.v1.ProjectServiceGrpc;
import io.github.grpcidempotency.example.organization.v1.RegisterWebhookRequest;
import io.github.grpcidempotency.example.organization.v1.RegisterWebhookResponse;
import io.github.grpcidempotency.example.organization.v1.Webhook;
import io.github.grpcidempotency.example.organization.v1.WebhookProvider;
import io.github.grpcidempotency.example.organization.v1.WebhookServiceGrpc;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.Callable;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.statement.UnableToExecuteStatementException;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Deliveries of providers: first and repeated, genuine and forged. */
@ExtendWith(SharedExample.class)
class WebhooksTest {
  private static final String SECRET = "whsec_a_secret_of_these_tests";
  private static final String EVENT =
      "{\"id\": \"evt_1\", \"object\": \"event\", \"pending_webhooks\": 2}";

  private static RunningExample example;

  private final Metadata ada = with("organization", "nasa", user(UUID.randomUUID()));

  @BeforeAll
  static void share(RunningExample shared) {
    example = shared;
  }

  @Test
  void anEventIsRecordedOnceHoweverOftenItIsDelivered() {
    WebhookSender stripe = stripe();
    long now = Instant.now().getEpochSecond();
    Reply<IngestResponse> first = stripe.stripe(EVENT, now - 100);
    assertThat(first.isReplayed()).isFalse();
    assertThat(first.status()).isEqualTo("processing");
    assertThat(first.response().getDelivery().getEvent()).isEqualTo("stripe:evt_1");

    Reply<IngestResponse> again =
        stripe.stripe(EVENT.replace("\"pending_webhooks\": 2", "\"pending_webhooks\": 1"), now);
    assertThat(again.isReplayed()).isTrue();
    assertThat(again.response()).isEqualTo(first.response());
    assertThat(rows(stripe.webhook())).isEqualTo(1);

    await().until(() -> stripe.stripe(EVENT).status().equals("completed"));
  }

  @Test
  void aDeliveryOfGitHubIsRecordedOnce() {
    WebhookSender github = register(project(), WebhookProvider.GITHUB);
    Reply<IngestResponse> first = github.github("name-1", "{}");
    assertThat(first.response().getDelivery().getEvent()).isEqualTo("github:name-1");
    assertThat(github.github("name-1", "{}").isReplayed()).isTrue();
    assertThat(rows(github.webhook())).isEqualTo(1);
  }

  @Test
  void theSameEventAtAnotherWebhookIsAnotherEvent() {
    String project = project();
    List<WebhookSender> webhooks =
        List.of(
            register(project, WebhookProvider.STRIPE),
            register(project, WebhookProvider.STRIPE),
            register(project(), WebhookProvider.STRIPE));
    for (WebhookSender stripe : webhooks) {
      assertThat(stripe.stripe(EVENT).isReplayed()).isFalse();
      assertThat(rows(stripe.webhook())).isEqualTo(1);
    }
  }

  @Test
  void theKeyIsTheWebhooksInItsProjectForSevenDays() {
    WebhookSender stripe = stripe();
    stripe.stripe(EVENT);
    Key key = keys(stripe.webhook()).get(0);
    assertThat(key.stored()).isEqualTo("nasa/" + stripe.webhook().getProjectId() + ":stripe:evt_1");
    assertThat(key.retention()).isEqualTo(Duration.ofDays(7));
  }

  @Test
  void anUnknownWebhookAndAWrongSignatureGetTheSameAnswer() {
    WebhookSender stripe = stripe();
    StatusRuntimeException forged = refused(() -> stripe.withSecret("whsec_another").stripe(EVENT));
    assertThat(forged.getStatus().getCode()).isEqualTo(Status.Code.UNAUTHENTICATED);
    assertThat(reason(forged)).isEqualTo("IDEMPOTENCY_CALLER_REQUIRED");

    List<StatusRuntimeException> others =
        List.of(
            refused(() -> stripe.toNobody().stripe(EVENT)),
            refused(() -> unnamed(stripe, "").stripe(EVENT)),
            refused(() -> unnamed(stripe, "whk_\0").stripe(EVENT)),
            refused(() -> unnamed(stripe, stripe.webhook().getId()).stripe(EVENT)),
            refused(() -> stripe.stripe(EVENT, Instant.now().getEpochSecond() - 600)),
            refused(() -> stripe.stripe("no event", Instant.now().getEpochSecond() - 600)),
            refused(() -> stripe.send(EVENT, Map.of())),
            refused(() -> stripe.toNobody().send(EVENT, Map.of())));
    assertThat(others).extracting(WebhooksTest::all).containsOnly(all(forged));
    assertThat(keys(stripe.webhook())).isEmpty();
    assertThat(rows(stripe.webhook())).isZero();
  }

  @Test
  void aLoggedInUserCannotForgeADeliveryEither() {
    WebhookSender stripe = stripe();
    Metadata adaWithAKey =
        with("idempotency-key", UuidCreator.getTimeOrderedEpoch().toString(), ada);
    StatusRuntimeException refused =
        refused(() -> stripe.send(adaWithAKey, EVENT, Map.of("Stripe-Signature", "t=1,v1=")));
    assertThat(refused.getStatus().getCode()).isEqualTo(Status.Code.UNAUTHENTICATED);
  }

  @Test
  void anEventWithoutANameIsRefused() {
    WebhookSender stripe = stripe();
    for (String body : List.of("{\"object\": \"event\"}", "{\"id\": 1}", "no JSON", "")) {
      StatusRuntimeException refused = refused(() -> stripe.stripe(body));
      assertThat(refused.getStatus().getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
      assertThat(reason(refused)).isEqualTo("IDEMPOTENCY_KEY_REQUIRED");
      assertThat(refused.getMessage()).contains("event id of the provider");
    }
    StatusRuntimeException malformed = refused(() -> stripe.stripe("{\"id\": \"evt:1\"}"));
    assertThat(malformed.getStatus().getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
    assertThat(reason(malformed)).isEqualTo("IDEMPOTENCY_KEY_INVALID");
    assertThat(TestClient.violations(malformed)).containsExactly("event id of the provider");
    assertThat(keys(stripe.webhook())).isEmpty();
    assertThat(rows(stripe.webhook())).isZero();
  }

  @Test
  void theApplicationCannotReadSecretsEvenThoseOfItsUser() {
    Webhook webhook = stripe().webhook();
    try (Handle app = Jdbi.open(example.database().app())) {
      app.execute("SELECT set_config('app.current_user_id', ?, false)", ownerOf(webhook));
      assertThat(count(app, "SELECT count(id) FROM tenant.webhooks")).isEqualTo(1);
      for (String query :
          List.of(
              "SELECT signing_secret FROM tenant.webhooks",
              "SELECT * FROM tenant.webhooks",
              "SELECT id FROM tenant.webhooks WHERE signing_secret LIKE 'w%'")) {
        assertThatExceptionOfType(UnableToExecuteStatementException.class)
            .as(query)
            .isThrownBy(() -> app.createQuery(query).mapToMap().list())
            .withMessageContaining("permission denied");
      }
    }
  }

  @Test
  void aWebhookOfAnothersProjectCannotBeRegistered() {
    Metadata grace =
        with(
            "idempotency-key",
            UuidCreator.getTimeOrderedEpoch().toString(),
            with("organization", "nasa", user(UUID.randomUUID())));
    RegisterWebhookRequest request = stripeOf(project());
    assertThat(refused(() -> register(grace, request)).getStatus().getCode())
        .isEqualTo(Status.Code.NOT_FOUND);
  }

  @Test
  void aBadRegistrationGetsAllItsProblemsAtOnce() {
    assertThat(violations(RegisterWebhookRequest.getDefaultInstance()))
        .containsExactly("project_id", "signing_secret", "provider");
  }

  private String project() {
    return example
        .client()
        .call(
            ada,
            ProjectServiceGrpc.getCreateProjectMethod(),
            CreateProjectRequest.newBuilder().setName("apollo").build())
        .response()
        .getProject()
        .getId();
  }

  private WebhookSender stripe() {
    return register(project(), WebhookProvider.STRIPE);
  }

  private WebhookSender register(String project, WebhookProvider provider) {
    Metadata keyed = with("idempotency-key", UuidCreator.getTimeOrderedEpoch().toString(), ada);
    RegisterWebhookRequest request = stripeOf(project).toBuilder().setProvider(provider).build();
    Webhook webhook = register(keyed, request).response().getWebhook();
    return new WebhookSender(example.client(), webhook, SECRET);
  }

  private static Reply<RegisterWebhookResponse> register(
      Metadata headers, RegisterWebhookRequest request) {
    return example.client().call(headers, WebhookServiceGrpc.getRegisterWebhookMethod(), request);
  }

  private static RegisterWebhookRequest stripeOf(String project) {
    return RegisterWebhookRequest.newBuilder()
        .setProjectId(project)
        .setProvider(WebhookProvider.STRIPE)
        .setSigningSecret(SECRET)
        .build();
  }

  private static WebhookSender unnamed(WebhookSender sender, String webhookId) {
    Webhook named = sender.webhook().toBuilder().setWebhookId(webhookId).build();
    return new WebhookSender(sender.client(), named, sender.secret());
  }

  private List<String> violations(RegisterWebhookRequest request) {
    Metadata keyed = with("idempotency-key", UuidCreator.getTimeOrderedEpoch().toString(), ada);
    return TestClient.violations(refused(() -> register(keyed, request)));
  }

  private static StatusRuntimeException refused(Callable<?> call) {
    StatusRuntimeException refused = catchThrowableOfType(StatusRuntimeException.class, call::call);
    assertThat(refused).as("the refusal").isNotNull();
    return refused;
  }

  private static String reason(StatusRuntimeException refused) {
    return TestClient.detail(refused, ErrorInfo.class).orElseThrow().getReason();
  }

  /** All that a client sees of a refusal. */
  private static String all(StatusRuntimeException refused) {
    Metadata trailers = Objects.requireNonNull(refused.getTrailers());
    return refused.getStatus() + " " + trailers.keys() + " " + StatusProto.fromThrowable(refused);
  }

  private record Key(String stored, Duration retention) {}

  /** Everything that was ever claimed as the webhook. */
  private static List<Key> keys(Webhook webhook) {
    try (Handle superuser = example.superuser()) {
      return superuser
          .createQuery(
              """
              SELECT idempotency_key, extract(epoch FROM expires - created)::bigint AS seconds
              FROM idempotency.idempotency_keys WHERE user_id = :id::uuid
              """)
          .bind("id", webhook.getId())
          .map(
              (row, context) ->
                  new Key(
                      row.getString("idempotency_key"), Duration.ofSeconds(row.getLong("seconds"))))
          .list();
    }
  }

  private static int rows(Webhook webhook) {
    try (Handle superuser = example.superuser()) {
      return superuser
          .createQuery(
              "SELECT count(*) FROM tenant.webhook_deliveries WHERE webhook_id = :id::uuid")
          .bind("id", webhook.getId())
          .mapTo(Integer.class)
          .one();
    }
  }

  private static String ownerOf(Webhook webhook) {
    try (Handle superuser = example.superuser()) {
      return superuser
          .createQuery("SELECT user_id::text FROM tenant.webhooks WHERE id = :id::uuid")
          .bind("id", webhook.getId())
          .mapTo(String.class)
          .one();
    }
  }

  private static int count(Handle handle, String query) {
    return handle.createQuery(query).mapTo(Integer.class).one();
  }
}
