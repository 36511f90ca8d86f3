package io.github.grpcidempotency.example.demo;

import com.github.f4b6a3.uuid.UuidCreator;
import com.google.api.HttpBody;
import com.google.common.hash.Hashing;
import com.google.protobuf.ByteString;
import io.github.grpcidempotency.example.organization.v1.HttpHeader;
import io.github.grpcidempotency.example.organization.v1.IngestRequest;
import io.github.grpcidempotency.example.organization.v1.RegisterWebhookRequest;
import io.github.grpcidempotency.example.organization.v1.RegisterWebhookResponse;
import io.github.grpcidempotency.example.organization.v1.WebhookProvider;
import io.github.grpcidempotency.example.organization.v1.WebhookServiceGrpc;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.UUID;

/**
 * Stands in for Stripe, and for the HTTP server that forwards what Stripe delivers.
 *
 * @param stranger calls as a user that nobody knows: what counts is the signature
 */
record StripeStandIn(DemoClient stranger, String webhookId, String secret) {

  /** Registers a webhook in a new project of a user. */
  static StripeStandIn registeredBy(DemoClient owner, String project, String secret) {
    RegisterWebhookRequest request =
        RegisterWebhookRequest.newBuilder()
            .setProjectId(owner.newProject(project, UuidCreator.getTimeOrderedEpoch()))
            .setProvider(WebhookProvider.STRIPE)
            .setSigningSecret(secret)
            .build();
    Answer answer =
        owner
            .keyed(UuidCreator.getTimeOrderedEpoch())
            .call(
                WebhookServiceGrpc.getRegisterWebhookMethod(),
                request,
                response -> "webhook " + response.getWebhook().getId());
    return new StripeStandIn(
        new DemoClient(UUID.randomUUID(), owner.channel()),
        answer.as(RegisterWebhookResponse.class).getWebhook().getWebhookId(),
        secret);
  }

  /** The same, signing with another secret. */
  StripeStandIn signingWith(String another) {
    return new StripeStandIn(stranger, webhookId, another);
  }

  /** Delivers an event, signed now. */
  Answer deliver(String event) {
    IngestRequest request =
        IngestRequest.newBuilder()
            .setWebhookId(webhookId)
            .setBody(
                HttpBody.newBuilder()
                    .setContentType("application/json")
                    .setData(ByteString.copyFromUtf8(event)))
            .addHeaders(
                HttpHeader.newBuilder().setName("Stripe-Signature").setValue(signature(event)))
            .build();
    return stranger.call(
        WebhookServiceGrpc.getIngestMethod(),
        request,
        response -> "delivery " + response.getDelivery().getId());
  }

  private String signature(String event) {
    long time = Instant.now().getEpochSecond();
    return "t=%d,v1=%s"
        .formatted(
            time,
            Hashing.hmacSha256(secret.getBytes(StandardCharsets.UTF_8))
                .hashString(time + "." + event, StandardCharsets.UTF_8));
  }
}
