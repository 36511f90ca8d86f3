package io.github.grpcidempotency.example.service.webhook;

import io.github.grpcidempotency.key.Caller;
import java.util.UUID;

/**
 * A webhook as it was registered.
 *
 * @param id the webhook, and the user that it acts as
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

  /** Leaves out the secret. */
  @Override
  public String toString() {
    return "Registration[%s of %s]".formatted(id, scheme.provider());
  }
}
