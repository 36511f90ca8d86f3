package io.github.grpcidempotency.example.service.webhook;

import com.google.protobuf.Descriptors.Descriptor;
import io.github.grpcidempotency.example.organization.v1.IngestRequest;
import io.github.grpcidempotency.key.FoundKey;
import io.github.grpcidempotency.key.KeyCall;
import io.github.grpcidempotency.key.KeyFormat;
import io.github.grpcidempotency.key.KeySource;
import io.github.grpcidempotency.key.MalformedKeyException;
import io.github.grpcidempotency.key.UnauthenticatedKeyException;
import java.util.List;
import java.util.Optional;

/**
 * The key of a delivery, in this order:
 *
 * <ol>
 *   <li>Find the webhook that it names.
 *   <li>Check the provider's signature. A wrong signature and an unknown webhook get the same
 *       answer, so that a caller cannot find out which webhooks exist.
 *   <li>Only then read the event's name. A delivery without a name is refused, because an invented
 *       name would merge two events or split one.
 * </ol>
 *
 * <p>The key belongs to the webhook, and begins with its provider.
 */
public final class WebhookKeys implements KeySource {
  private final WebhookDirectory directory;

  /** Creates the source. */
  public WebhookKeys(WebhookDirectory directory) {
    this.directory = directory;
  }

  /** The name of the key in errors. */
  @Override
  public String name() {
    return "event id of the provider";
  }

  @Override
  public Optional<FoundKey> find(KeyCall call) {
    IngestRequest request = (IngestRequest) call.request();
    WebhookDirectory.Found found =
        directory.find(request.getWebhookId()).orElseThrow(WebhookKeys::unproven);
    return key(found.webhook(), Delivery.of(request, found.asked()));
  }

  static Optional<FoundKey> key(Registration webhook, Delivery delivery) {
    Scheme scheme = webhook.scheme();
    if (!scheme.isSigned(delivery, webhook.signingSecret())) {
      throw unproven();
    }
    return scheme
        .event(delivery)
        .map(WebhookKeys::checked)
        .map(event -> scheme.provider() + ":" + event)
        .map(key -> FoundKey.of(key, webhook.principal()));
  }

  private static String checked(String event) {
    return KeyFormat.opaque()
        .canonicalize(event)
        .orElseThrow(() -> new MalformedKeyException("the event's name is malformed"));
  }

  private static UnauthenticatedKeyException unproven() {
    return new UnauthenticatedKeyException("the delivery is not signed by a webhook that exists");
  }

  @Override
  public List<String> problems(Descriptor request) {
    return request.equals(IngestRequest.getDescriptor())
        ? List.of()
        : List.of(
            "the key of a webhook's delivery can be read from an IngestRequest only, not from"
                + " "
                + request.getFullName());
  }
}
