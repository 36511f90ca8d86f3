package io.github.grpcidempotency.example.demo;

import com.github.f4b6a3.uuid.UuidCreator;
import java.util.UUID;

final class LeaveAnotherUserAlone implements Step {
  private static final String NAME = "soyuz";

  @Override
  public String title() {
    return "Grace happens to use Ada's key, and neither notices";
  }

  @Override
  public void play(Stage stage, Story story) {
    UUID key = UuidCreator.getTimeOrderedEpoch();
    story.sent("Ada: CreateProject \"soyuz\"");
    Answer ada = stage.ada().createProject(NAME, key);
    story.cameBack(ada);

    story.sent("Grace: CreateProject \"soyuz\", with the same key");
    Answer grace = stage.grace().createProject(NAME, key);
    story.cameBack(grace);
    story.expect(
        "Grace has a project of her own, and no replay",
        grace.isOk() && !grace.isSameAs(ada) && !grace.isReplayed());
    story.counted(1, stage.rows().projects(stage.ada().user(), NAME), "project of Ada");
    story.counted(1, stage.rows().projects(stage.grace().user(), NAME), "project of Grace");
  }
}
