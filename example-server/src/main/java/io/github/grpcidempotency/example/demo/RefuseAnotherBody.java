package io.github.grpcidempotency.example.demo;

import com.github.f4b6a3.uuid.UuidCreator;
import io.grpc.Status;
import java.util.UUID;

final class RefuseAnotherBody implements Step {
  @Override
  public String title() {
    return "A key stands for one request: with another body it is refused";
  }

  @Override
  public void play(Stage stage, Story story) {
    UUID key = UuidCreator.getTimeOrderedEpoch();
    story.sent("CreateProject \"vostok\"");
    story.cameBack(stage.ada().createProject("vostok", key));

    story.sent("CreateProject \"voskhod\", with the same key");
    Answer refused = stage.ada().createProject("voskhod", key);
    story.cameBack(refused);
    story.expect(
        "it was refused as a reused key, and why is in the error's details",
        refused.status().getCode() == Status.Code.INVALID_ARGUMENT
            && refused.reason().equals("IDEMPOTENCY_KEY_REUSED"));
    story.counted(0, stage.rows().projects(stage.ada().user(), "voskhod"), "projects \"voskhod\"");
  }
}
