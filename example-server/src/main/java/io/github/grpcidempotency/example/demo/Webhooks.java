package io.github.grpcidempotency.example.demo;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.api.HttpBody;
import com.google.common.hash.Hashing;
import com.google.protobuf.ByteString;
import io.github.grpcidempotency.example.organization.v1.HttpHeader;
import io.github.grpcidempotency.example.organization.v1.IngestRequest;
import io.github.grpcidempotency.example.organization.v1.RegisterWebhookRequest;
import io.github.grpcidempotency.example.organization.v1.RegisterWebhookResponse;
import io.github.grpcidempotency.example.organization.v1.WebhookProvider;
import io.github.grpcidempotency.example.organization.v1.WebhookServiceGrpc;
import io.grpc.Status;
import java.time.Instant;
import java.util.UUID;

/** A provider's events, which are delivered repeatedly and carry no key. */
final class Webhooks {
  private static final String SECRET = "whsec_known_to_stripe";
  private static final String EVENT = "{\"id\": \"evt_pioneer\", \"type\": \"invoice.paid\"}";
  private static final String FORGED = "{\"id\": \"evt_forged\", \"type\": \"invoice.paid\"}";

  private Webhooks() {}

  static void takeAnEventInOnce(Stage stage, Story story) {
    String webhookId = register(stage.ada());
    Answer first =
        story.call(
            "Ingest " + EVENT + ", signed by Stripe, with no idempotency-key",
            () -> deliver(stage, webhookId, EVENT, SECRET));
    story.expect("it was taken in", first.isOk() && !first.isReplayed());
    Answer again =
        story.call(
            "the same event, delivered again and signed anew",
            () -> deliver(stage, webhookId, EVENT, SECRET));
    story.expect("it was known by the event's own id", again.isReplayed() && again.isSameAs(first));
    Answer forged =
        story.call(
            "Ingest " + FORGED + ", signed with a secret that was guessed",
            () -> deliver(stage, webhookId, FORGED, "whsec_guessed"));
    story.expect(
        "it was refused, as a delivery to a webhook that does not exist would be",
        forged.isRefused(Status.Code.UNAUTHENTICATED, "IDEMPOTENCY_CALLER_REQUIRED"));
    story.counted(1, stage.rows().deliveries(webhookId), "delivery to the webhook");
  }

  private static String register(DemoClient owner) {
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
        .getWebhook()
        .getWebhookId();
  }

  /** Delivers an event as an unknown user: only the signature counts, which is made now. */
  private static Answer deliver(Stage stage, String webhookId, String event, String secret) {
    String signed = Instant.now().getEpochSecond() + "." + event;
    String signature =
        "t=%s,v1=%s"
            .formatted(
                signed.substring(0, signed.indexOf('.')),
                Hashing.hmacSha256(secret.getBytes(UTF_8)).hashString(signed, UTF_8));
    IngestRequest request =
        IngestRequest.newBuilder()
            .setWebhookId(webhookId)
            .setBody(
                HttpBody.newBuilder()
                    .setContentType("application/json")
                    .setData(ByteString.copyFromUtf8(event)))
            .addHeaders(HttpHeader.newBuilder().setName("Stripe-Signature").setValue(signature))
            .build();
    return new DemoClient(UUID.randomUUID(), stage.channel())
        .call(WebhookServiceGrpc.getIngestMethod(), request);
  }
}
