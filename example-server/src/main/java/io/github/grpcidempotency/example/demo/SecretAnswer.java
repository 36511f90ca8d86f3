package io.github.grpcidempotency.example.demo;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.github.grpcidempotency.example.organization.v1.APIKeyServiceGrpc;
import io.github.grpcidempotency.example.organization.v1.CreateAPIKeyRequest;
import io.github.grpcidempotency.example.organization.v1.CreateAPIKeyResponse;

/** An answer with a secret is recorded encrypted. */
final class SecretAnswer implements Scene {
  @Override
  public String title() {
    return "A retry gets the token of an API key, which the database holds only encrypted";
  }

  @Override
  public void play(Stage stage, Story story) {
    DemoClient ada = stage.ada().keyed();
    String projectId = stage.ada().newProject("magellan");
    Answer first = story.call("CreateAPIKey \"radar\"", () -> create(ada, projectId));
    Answer again = story.call("the same call", () -> create(ada, projectId));
    story.expect("the retry has the same token", again.isReplayOf(first));
    byte[] token = first.as(CreateAPIKeyResponse.class).getToken().getBytes(UTF_8);
    story.counted(
        0,
        stage.count(
            "idempotency.idempotency_keys WHERE position(?::bytea IN response_bytes) > 0", token),
        "records that contain the token");
  }

  static Answer create(DemoClient client, String projectId) {
    return client.call(
        APIKeyServiceGrpc.getCreateAPIKeyMethod(),
        CreateAPIKeyRequest.newBuilder().setProjectId(projectId).setName("radar").build());
  }
}
