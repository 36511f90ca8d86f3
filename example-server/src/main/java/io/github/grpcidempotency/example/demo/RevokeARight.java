package io.github.grpcidempotency.example.demo;

import com.github.f4b6a3.uuid.UuidCreator;
import io.github.grpcidempotency.example.organization.v1.CreateAPIKeyResponse;
import io.grpc.Status;
import java.util.UUID;

final class RevokeARight implements Step {
  @Override
  public String title() {
    return "What was revoked since is not told again, although the answer is on record";
  }

  @Override
  public void play(Stage stage, Story story) {
    ApiKeyClient ada = ApiKeyClient.inNewProject(stage.ada(), "kepler");
    UUID key = UuidCreator.getTimeOrderedEpoch();
    story.sent("CreateAPIKey \"photometer\"");
    Answer created = ada.create("photometer", key);
    story.cameBack(created);
    String id = created.as(CreateAPIKeyResponse.class).getApiKey().getId();

    story.sent("RevokeAPIKey, with an idempotency-key");
    Answer refused = ada.revokeKeyed(id);
    story.cameBack(refused);
    story.expect(
        "a revocation must act now and takes no key",
        refused.isRefused(Status.Code.INVALID_ARGUMENT, "IDEMPOTENCY_KEY_PROHIBITED"));
    story.sent("RevokeAPIKey");
    Answer revoked = ada.revoke(id);
    story.cameBack(revoked);
    story.expect("it is revoked", revoked.isOk());

    story.sent("the first call, again");
    Answer denied = ada.create("photometer", key);
    story.cameBack(denied);
    story.expect(
        "the guard denies the replay",
        denied.isRefused(Status.Code.PERMISSION_DENIED, "IDEMPOTENCY_REPLAY_DENIED"));
  }
}
