package io.github.grpcidempotency.example.demo;

import io.grpc.Status;
import java.util.List;
import java.util.UUID;

/** A key stands for one request. */
final class ReusedKey implements Scene {
  @Override
  public String title() {
    return "A key is reused for another request";
  }

  @Override
  public String guarantee() {
    return "A key stands for one request";
  }

  @Override
  public void play(Stage stage, Story story) {
    UUID key = DemoClient.newKey();
    DemoClient ada = stage.b.client(stage.ada).keyed(key);
    story.call(
        stage.b,
        "CreateProject \"soyuz\", key " + Answer.brief(key),
        () -> ada.createProject("soyuz"));
    Answer other =
        story.call(
            stage.b,
            "CreateProject \"salyut\", key " + Answer.brief(key),
            () -> ada.createProject("salyut"));
    story.expect(
        "the other request is refused",
        other.isRefused(Status.Code.INVALID_ARGUMENT, "IDEMPOTENCY_KEY_REUSED"));
    story.rows(
        List.of(
            stage.row(1, "project \"soyuz\"", "tenant.projects WHERE name = 'soyuz'"),
            stage.row(0, "projects \"salyut\"", "tenant.projects WHERE name = 'salyut'"),
            stage.records(1, key)));
  }
}
