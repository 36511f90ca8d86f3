package io.github.grpcidempotency.example.service.organization;

import static io.github.grpcidempotency.example.service.tenant.Tables.WEBHOOKS;
import static io.github.grpcidempotency.example.service.tenant.Tables.WEBHOOK_DELIVERIES;

import com.google.common.collect.ImmutableMap;
import io.github.grpcidempotency.example.organization.v1.IngestRequest;
import io.github.grpcidempotency.example.organization.v1.IngestResponse;
import io.github.grpcidempotency.example.organization.v1.RegisterWebhookRequest;
import io.github.grpcidempotency.example.organization.v1.RegisterWebhookResponse;
import io.github.grpcidempotency.example.organization.v1.Webhook;
import io.github.grpcidempotency.example.organization.v1.WebhookDelivery;
import io.github.grpcidempotency.example.organization.v1.WebhookServiceGrpc.WebhookServiceImplBase;
import io.github.grpcidempotency.example.service.caller.CurrentCaller;
import io.github.grpcidempotency.example.service.outbox.Tuple;
import io.github.grpcidempotency.example.service.tenant.Tenant;
import io.github.grpcidempotency.example.service.webhook.Scheme;
import io.github.grpcidempotency.grpc.CurrentOperation;
import io.grpc.stub.StreamObserver;
import java.util.Optional;
import java.util.UUID;

/**
 * Webhooks of a project, and their deliveries. A delivery arrives here only after the key source
 * has checked its signature. This handler runs as the webhook, in a transaction that sees the
 * webhook's rows.
 */
public final class WebhookService extends WebhookServiceImplBase {
  private final Tenant tenant;

  public WebhookService(Tenant tenant) {
    this.tenant = tenant;
  }

  @Override
  public void registerWebhook(
      RegisterWebhookRequest request, StreamObserver<RegisterWebhookResponse> observer) {
    Reply.to(
        observer, () -> RegisterWebhookResponse.newBuilder().setWebhook(register(request)).build());
  }

  private Webhook register(RegisterWebhookRequest request) {
    RequestCheck check = new RequestCheck();
    UUID projectId = check.id("project_id", request.getProjectId());
    check.text("signing_secret", request.getSigningSecret());
    Optional<Scheme> scheme = Scheme.of(request.getProvider());
    check.that(scheme.isPresent(), "provider", "must be set");
    check.orThrow();

    String word = scheme.orElseThrow().provider();
    NewResource<Webhook> webhook = NewResource.in(WEBHOOKS, word);
    return tenant
        .createWithinClaim(
            webhook.ownedByCaller(),
            handle ->
                webhook.insert(
                    handle,
                    projectId,
                    ImmutableMap.of(
                        "opaque_id", OneTimeSecret.mint("whk_").text(),
                        "provider", word,
                        "signing_secret", request.getSigningSecret())))
        .map(created -> created.toBuilder().setProvider(request.getProvider()).build())
        .orElseThrow(() -> Reply.notFound("project", projectId));
  }

  @Override
  public void ingest(IngestRequest request, StreamObserver<IngestResponse> observer) {
    Reply.to(observer, () -> IngestResponse.newBuilder().setDelivery(takeIn(request)).build());
  }

  private WebhookDelivery takeIn(IngestRequest request) {
    String event = CurrentOperation.key().orElseThrow().value();
    byte[] body = request.getBody().getData().toByteArray();
    UUID webhook = CurrentCaller.get().userId();
    NewResource<WebhookDelivery> delivery = NewResource.in(WEBHOOK_DELIVERIES, event);
    return tenant
        .createWithinClaim(
            delivery.grants(
                new Tuple("webhook:" + webhook, "source", "webhook_delivery:" + delivery.id())),
            handle ->
                delivery.insert(handle, webhook, ImmutableMap.of("event", event, "body", body)))
        .orElseThrow(() -> Reply.notFound("webhook", webhook));
  }
}
