package io.github.grpcidempotency.example.service.webhook;

import io.github.grpcidempotency.key.Caller;
import java.util.UUID;

/**
 * A registered webhook.
 *
 * @param id the webhook's id, which is also the id of the user for which it acts
 * @param organization empty for none
 */
record Registration(
    UUID id, String organization, UUID projectId, Scheme scheme, String signingSecret) {
  /** Returns the owner of the keys of its events: only this webhook, in its project. */
  Caller principal() {
    Caller webhook = Caller.of(id);
    return (organization.isEmpty() ? webhook : webhook.inTenant(organization))
        .inProject(projectId.toString());
  }

  /** Omits the secret. */
  @Override
  public String toString() {
    return "Registration[%s of %s]".formatted(id, scheme.provider());
  }
}
