package io.github.grpcidempotency.example.service.webhook;

import io.github.grpcidempotency.key.Caller;
import java.util.UUID;

/**
 * A webhook as it was registered.
 *
 * @param id the webhook, and the user that it acts as
 * @param organization empty for none
 * @param publicUrl where the provider delivers, as the provider knows it
 */
record Registration(
    UUID id,
    String organization,
    UUID projectId,
    Provider provider,
    String signingSecret,
    String publicUrl) {

  /**
   * Returns the owner of the keys of its events: only this webhook, not another one of the same
   * project.
   */
  Caller principal() {
    Caller webhook = Caller.of(id);
    return (organization.isEmpty() ? webhook : webhook.inTenant(organization))
        .inProject(projectId.toString());
  }

  /** Leaves out the secret. */
  @Override
  public String toString() {
    return "Registration[%s of %s]".formatted(id, provider);
  }
}
