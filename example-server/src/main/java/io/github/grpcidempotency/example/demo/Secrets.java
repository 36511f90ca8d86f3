package io.github.grpcidempotency.example.demo;

import io.github.grpcidempotency.example.organization.v1.APIKeyServiceGrpc;
import io.github.grpcidempotency.example.organization.v1.CreateAPIKeyRequest;
import io.github.grpcidempotency.example.organization.v1.CreateAPIKeyResponse;
import io.github.grpcidempotency.example.organization.v1.RevokeAPIKeyRequest;
import io.github.grpcidempotency.example.run.settings.Keyset;
import io.grpc.Status;
import java.nio.file.Path;
import java.util.UUID;

/** Answers that hold a secret, and answers that are not given again. */
final class Secrets {
  private Secrets() {}

  static void keepASecret(Stage stage, Story story) {
    DemoClient ada = stage.ada();
    String projectId = ada.newProject("magellan");
    UUID key = DemoClient.newKey();
    Answer first = story.call("CreateAPIKey \"radar\"", () -> create(ada, projectId, "radar", key));
    Answer again =
        story.call(
            "the same call, for the answer was lost", () -> create(ada, projectId, "radar", key));
    story.expect("it has the same token", again.isReplayed() && again.isSameAs(first));
    String token = first.as(CreateAPIKeyResponse.class).getToken();
    story.counted(
        1, stage.rows().apiKeysWithHashOf(token), "API key with the SHA-256 of the token");
    story.counted(
        0, stage.rows().recordsThatContain(token), "recorded answers with the token in it");

    Path keyset = stage.files().keyset();
    Keyset.read(keyset).withNewKey().replace(keyset);
    Keyset.read(keyset).sealingWithNewest().replace(keyset);
    Answer afterwards =
        story.call(
            "the operator rotates the keyset: a new key is added, and then seals",
            () -> create(ada, projectId, "radar", key));
    story.expect("what the old key has sealed can still be opened", afterwards.isSameAs(first));
    story.cameBack(create(ada, projectId, "altimeter", DemoClient.newKey()));
    story.counted(
        1,
        stage.rows().recordsSealedBy(Keyset.read(keyset).sealingKey()),
        "recorded answer that the new key has sealed");
  }

  static void revokeARight(Stage stage, Story story) {
    DemoClient ada = stage.ada();
    String projectId = ada.newProject("kepler");
    UUID key = DemoClient.newKey();
    Answer created =
        story.call("CreateAPIKey \"photometer\"", () -> create(ada, projectId, "photometer", key));
    String id = created.as(CreateAPIKeyResponse.class).getApiKey().getId();
    Answer refused =
        story.call("RevokeAPIKey, with an idempotency-key", () -> revoke(ada.keyed(), id));
    story.expect(
        "a revocation must act now and takes no key",
        refused.isRefused(Status.Code.INVALID_ARGUMENT, "IDEMPOTENCY_KEY_PROHIBITED"));
    Answer revoked = story.call("RevokeAPIKey", () -> revoke(ada, id));
    story.expect("it is revoked", revoked.isOk());
    Answer denied =
        story.call("the first call, again", () -> create(ada, projectId, "photometer", key));
    story.expect(
        "the guard denies the replay",
        denied.isRefused(Status.Code.PERMISSION_DENIED, "IDEMPOTENCY_REPLAY_DENIED"));
  }

  private static Answer create(DemoClient client, String projectId, String name, UUID key) {
    return client
        .keyed(key)
        .call(
            APIKeyServiceGrpc.getCreateAPIKeyMethod(),
            CreateAPIKeyRequest.newBuilder().setProjectId(projectId).setName(name).build());
  }

  private static Answer revoke(DemoClient client, String id) {
    return client.call(
        APIKeyServiceGrpc.getRevokeAPIKeyMethod(),
        RevokeAPIKeyRequest.newBuilder().setId(id).build());
  }
}
