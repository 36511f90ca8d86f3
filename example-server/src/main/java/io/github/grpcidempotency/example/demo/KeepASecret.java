package io.github.grpcidempotency.example.demo;

import com.github.f4b6a3.uuid.UuidCreator;
import io.github.grpcidempotency.example.organization.v1.CreateAPIKeyResponse;
import io.github.grpcidempotency.example.run.settings.DataFiles;
import io.github.grpcidempotency.example.run.settings.Keyset;
import java.nio.file.Path;
import java.util.UUID;

final class KeepASecret implements Step {
  @Override
  public String title() {
    return "The token of an API key is told to a retry, and stands nowhere in the clear";
  }

  @Override
  public void play(Stage stage, Story story) {
    ApiKeyClient ada = ApiKeyClient.inNewProject(stage.ada(), "magellan");
    UUID key = UuidCreator.getTimeOrderedEpoch();
    story.sent("CreateAPIKey \"radar\"");
    Answer first = ada.create("radar", key);
    story.cameBack(first);
    story.sent("the same call, for the answer was lost");
    Answer again = ada.create("radar", key);
    story.cameBack(again);
    story.expect("it has the same token", again.isReplayed() && again.isSameAs(first));

    String token = first.as(CreateAPIKeyResponse.class).getToken();
    story.counted(
        1, stage.rows().apiKeysWithHashOf(token), "API key with the SHA-256 of the token");
    story.counted(
        0, stage.rows().recordsThatContain(token), "recorded answers with the token in it");
    rotate(stage, story, ada, key, first);
  }

  private static void rotate(Stage stage, Story story, ApiKeyClient ada, UUID key, Answer first) {
    Path file = new DataFiles(stage.database().directory()).keyset();
    story.sent("the operator rotates the keyset: a new key is added, and then seals");
    Keyset.read(file).withNewKey().replace(file);
    Keyset.read(file).sealingWithNewest().replace(file);
    Answer afterwards = ada.create("radar", key);
    story.cameBack(afterwards);
    story.expect("what the old key has sealed is still told", afterwards.isSameAs(first));
    story.cameBack(ada.create("altimeter", UuidCreator.getTimeOrderedEpoch()));
    story.counted(
        1,
        stage.rows().recordsSealedBy(Keyset.read(file).sealingKey()),
        "recorded answer that the new key has sealed");
  }
}
