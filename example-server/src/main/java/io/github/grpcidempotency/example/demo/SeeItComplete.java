package io.github.grpcidempotency.example.demo;

import com.github.f4b6a3.uuid.UuidCreator;
import java.util.UUID;

final class SeeItComplete implements Step {
  private static final String NAME = "mercury";

  @Override
  public String title() {
    return "The work behind a project goes on; repeating the call tells how far it is";
  }

  @Override
  public void play(Stage stage, Story story) {
    UUID key = UuidCreator.getTimeOrderedEpoch();
    story.sent("CreateProject \"mercury\"");
    Answer first = stage.ada().createProject(NAME, key);
    story.cameBack(first);
    story.expect("at first it is processing", first.idempotencyStatus().equals("processing"));

    story.sent("the same call, until it is completed");
    Answer last =
        Waiting.until(
            answer -> answer.idempotencyStatus().equals("completed"),
            () -> stage.ada().createProject(NAME, key));
    story.cameBack(last);
    story.expect("then it is completed", last.idempotencyStatus().equals("completed"));
    story.expect("it has the same id", last.isSameAs(first));
    story.counted(
        1, stage.rows().tuples(stage.ada().user(), NAME), "authorization tuple for \"mercury\"");
  }
}
