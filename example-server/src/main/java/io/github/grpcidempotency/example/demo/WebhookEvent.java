package io.github.grpcidempotency.example.demo;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.api.HttpBody;
import com.google.common.hash.Hashing;
import com.google.protobuf.ByteString;
import io.github.grpcidempotency.example.organization.v1.HttpHeader;
import io.github.grpcidempotency.example.organization.v1.IngestRequest;
import io.github.grpcidempotency.example.organization.v1.RegisterWebhookRequest;
import io.github.grpcidempotency.example.organization.v1.RegisterWebhookResponse;
import io.github.grpcidempotency.example.organization.v1.Webhook;
import io.github.grpcidempotency.example.organization.v1.WebhookProvider;
import io.github.grpcidempotency.example.organization.v1.WebhookServiceGrpc;
import io.grpc.Status;
import java.time.Instant;

/** The provider's id of an event is the key, and its signature is the authentication. */
final class WebhookEvent implements Scene {
  private static final String SECRET = "whsec_known_to_stripe";
  private static final String EVENT = "{\"id\": \"evt_pioneer\", \"type\": \"invoice.paid\"}";

  @Override
  public String title() {
    return "Stripe delivers an event twice, and an attacker forges one";
  }

  @Override
  public void play(Stage stage, Story story) {
    Webhook webhook = register(stage.ada());
    Answer first =
        story.call(
            "Ingest " + EVENT + ", signed by Stripe, without an idempotency-key",
            () -> deliver(stage, webhook, SECRET));
    Answer again =
        story.call(
            "Stripe delivers the event again, with a new signature",
            () -> deliver(stage, webhook, SECRET));
    story.expect("the event's id is the key", again.isReplayOf(first));
    Answer forged =
        story.call(
            "the event, signed with a guessed secret",
            () -> deliver(stage, webhook, "whsec_guessed"));
    story.expect(
        "even a replay needs the right signature",
        forged.isRefused(Status.Code.UNAUTHENTICATED, "IDEMPOTENCY_CALLER_REQUIRED"));
    story.counted(
        1,
        stage.count("tenant.webhook_deliveries WHERE webhook_id = ?::uuid", webhook.getId()),
        "delivery");
  }

  private static Webhook register(DemoClient owner) {
    RegisterWebhookRequest request =
        RegisterWebhookRequest.newBuilder()
            .setProjectId(owner.newProject("pioneer"))
            .setProvider(WebhookProvider.STRIPE)
            .setSigningSecret(SECRET)
            .build();
    return owner
        .keyed()
        .call(WebhookServiceGrpc.getRegisterWebhookMethod(), request)
        .as(RegisterWebhookResponse.class)
        .getWebhook();
  }

  /** Delivers the event as an unknown user: only the signature matters. */
  private static Answer deliver(Stage stage, Webhook webhook, String secret) {
    long time = Instant.now().getEpochSecond();
    String signature =
        Hashing.hmacSha256(secret.getBytes(UTF_8)).hashString(time + "." + EVENT, UTF_8).toString();
    return stage
        .grace()
        .call(
            WebhookServiceGrpc.getIngestMethod(),
            IngestRequest.newBuilder()
                .setWebhookId(webhook.getWebhookId())
                .setBody(HttpBody.newBuilder().setData(ByteString.copyFromUtf8(EVENT)))
                .addHeaders(
                    HttpHeader.newBuilder()
                        .setName("Stripe-Signature")
                        .setValue("t=%d,v1=%s".formatted(time, signature)))
                .build());
  }
}
