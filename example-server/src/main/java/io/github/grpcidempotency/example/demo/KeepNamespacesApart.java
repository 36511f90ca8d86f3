package io.github.grpcidempotency.example.demo;

import com.github.f4b6a3.uuid.UuidCreator;
import java.util.UUID;
import java.util.stream.Stream;

final class KeepNamespacesApart implements Step {
  private static final String NAME = "pioneer";

  @Override
  public String title() {
    return "The same user with the same key, in other organizations and projects";
  }

  @Override
  public void play(Stage stage, Story story) {
    UUID key = UuidCreator.getTimeOrderedEpoch();
    DemoClient ada = stage.ada();
    DemoClient nasa = ada.with("organization", "nasa");
    DemoClient esa = ada.with("organization", "esa");
    createIn("above organizations", ada, key, story);
    createIn("in nasa, above its projects", nasa, key, story);
    createIn("in nasa, in its project deep-space", nasa.with("project", "deep-space"), key, story);
    createIn("in esa, in its project deep-space", esa.with("project", "deep-space"), key, story);
    story.expect(
        "each is replayed in its own place",
        Stream.of(ada, nasa, nasa.with("project", "deep-space"), esa.with("project", "deep-space"))
            .allMatch(place -> place.createProject(NAME, key).isReplayed()));
    story.counted(4, stage.rows().projects(ada.user(), NAME), "projects \"pioneer\"");
  }

  private static void createIn(String place, DemoClient client, UUID key, Story story) {
    story.sent("CreateProject \"pioneer\", " + place);
    Answer created = client.createProject(NAME, key);
    story.cameBack(created);
    story.expect("nobody had used the key here", created.isOk() && !created.isReplayed());
  }
}
