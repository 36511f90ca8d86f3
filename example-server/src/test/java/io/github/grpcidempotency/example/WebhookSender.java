package io.github.grpcidempotency.example;

import com.google.api.HttpBody;
import com.google.protobuf.ByteString;
import io.github.grpcidempotency.example.TestClient.Reply;
import io.github.grpcidempotency.example.organization.v1.HttpHeader;
import io.github.grpcidempotency.example.organization.v1.IngestRequest;
import io.github.grpcidempotency.example.organization.v1.IngestResponse;
import io.github.grpcidempotency.example.organization.v1.Webhook;
import io.github.grpcidempotency.example.organization.v1.WebhookServiceGrpc;
import io.grpc.Metadata;
import java.time.Instant;
import java.util.Map;

/** Delivers to one webhook as its provider does. */
record WebhookSender(TestClient client, Webhook webhook, String secret) {

  Reply<IngestResponse> stripe(String body) {
    return stripe(body, Instant.now().getEpochSecond());
  }

  Reply<IngestResponse> stripe(String body, long time) {
    return send(body, Map.of("Stripe-Signature", ProviderSignature.stripe(secret, time, body)));
  }

  Reply<IngestResponse> github(String name, String body) {
    return send(
        body,
        Map.of(
            "X-Hub-Signature-256",
            ProviderSignature.github(secret, body),
            "X-GitHub-Delivery",
            name));
  }

  Reply<IngestResponse> send(String body, Map<String, String> headers) {
    return send(TestClient.nobody(), body, headers);
  }

  Reply<IngestResponse> send(Metadata metadata, String body, Map<String, String> headers) {
    IngestRequest.Builder request =
        IngestRequest.newBuilder()
            .setWebhookId(webhook.getWebhookId())
            .setBody(HttpBody.newBuilder().setData(ByteString.copyFromUtf8(body)));
    headers.forEach(
        (name, value) -> request.addHeaders(HttpHeader.newBuilder().setName(name).setValue(value)));
    return client.call(metadata, WebhookServiceGrpc.getIngestMethod(), request.build());
  }

  /** The same sender, for a webhook that does not exist. */
  WebhookSender toNobody() {
    String unknown = "whk_" + "a".repeat(43);
    return new WebhookSender(client, webhook.toBuilder().setWebhookId(unknown).build(), secret);
  }

  WebhookSender withSecret(String another) {
    return new WebhookSender(client, webhook, another);
  }
}
