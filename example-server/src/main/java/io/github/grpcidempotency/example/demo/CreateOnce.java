package io.github.grpcidempotency.example.demo;

import com.github.f4b6a3.uuid.UuidCreator;
import java.util.UUID;

final class CreateOnce implements Step {
  @Override
  public String title() {
    return "Ada creates a project";
  }

  @Override
  public void play(Stage stage, Story story) {
    UUID key = UuidCreator.getTimeOrderedEpoch();
    story.sent("CreateProject \"apollo\", idempotency-key: " + key);
    Answer answer = stage.ada().createProject("apollo", key);
    story.cameBack(answer);
    story.expect("it succeeded, and was no replay", answer.isOk() && !answer.isReplayed());
    story.expect(
        "the work behind it is still processing", answer.idempotencyStatus().equals("processing"));
    story.counted(1, stage.rows().projects(stage.ada().user(), "apollo"), "project \"apollo\"");
  }
}
