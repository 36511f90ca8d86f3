package io.github.grpcidempotency.example.demo;

import io.github.grpcidempotency.example.organization.v1.APIKeyServiceGrpc;
import io.github.grpcidempotency.example.organization.v1.CreateAPIKeyResponse;
import io.github.grpcidempotency.example.organization.v1.RevokeAPIKeyRequest;
import io.grpc.Status;

/** A guard decides who may get an answer again. */
final class GuardedReplay implements Scene {
  @Override
  public String title() {
    return "The token of a revoked API key is not sent again, although it is recorded";
  }

  @Override
  public void play(Stage stage, Story story) {
    DemoClient ada = stage.ada();
    DemoClient keyed = ada.keyed();
    String projectId = ada.newProject("kepler");
    Answer created =
        story.call("CreateAPIKey \"radar\"", () -> SecretAnswer.create(keyed, projectId));
    RevokeAPIKeyRequest revocation =
        RevokeAPIKeyRequest.newBuilder()
            .setId(created.as(CreateAPIKeyResponse.class).getApiKey().getId())
            .build();
    Answer refused =
        story.call("RevokeAPIKey, with an idempotency-key", () -> revoke(keyed, revocation));
    story.expect(
        "a revocation must take effect at once, so its method prohibits keys",
        refused.isRefused(Status.Code.INVALID_ARGUMENT, "IDEMPOTENCY_KEY_PROHIBITED"));
    story.call("RevokeAPIKey", () -> revoke(ada, revocation));
    Answer denied = story.call("the first call again", () -> SecretAnswer.create(keyed, projectId));
    story.expect(
        "the guard denies the replay",
        denied.isRefused(Status.Code.PERMISSION_DENIED, "IDEMPOTENCY_REPLAY_DENIED"));
  }

  private static Answer revoke(DemoClient client, RevokeAPIKeyRequest request) {
    return client.call(APIKeyServiceGrpc.getRevokeAPIKeyMethod(), request);
  }
}
