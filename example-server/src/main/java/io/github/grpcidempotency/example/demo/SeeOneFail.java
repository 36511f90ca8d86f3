package io.github.grpcidempotency.example.demo;

import com.github.f4b6a3.uuid.UuidCreator;
import java.util.UUID;

final class SeeOneFail implements Step {
  private static final String NAME = "fail-challenger";

  @Override
  public String title() {
    return "The work behind a project can fail for good, and the client is told";
  }

  @Override
  public void play(Stage stage, Story story) {
    UUID key = UuidCreator.getTimeOrderedEpoch();
    story.sent("CreateProject \"fail-challenger\", a name for which no authorization is written");
    Answer first = stage.ada().createProject(NAME, key);
    story.cameBack(first);

    story.sent("the same call, until it is not processing any more");
    Answer last =
        Waiting.until(
            answer -> !answer.idempotencyStatus().equals("processing"),
            () -> stage.ada().createProject(NAME, key));
    story.cameBack(last);
    story.expect("it failed", last.idempotencyStatus().equals("failed"));
    story.expect("it still answers with the same id", last.isSameAs(first));
    story.counted(1, stage.rows().projects(stage.ada().user(), NAME), "project without rights");
    story.counted(0, stage.rows().tuples(stage.ada().user(), NAME), "authorization tuples for it");
  }
}
