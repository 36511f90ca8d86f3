package io.github.grpcidempotency.example.demo;

import java.util.List;
import java.util.UUID;

/** A key belongs to its user. */
final class TwoUsers implements Scene {
  private static final String OF = "tenant.projects WHERE name = 'vostok' AND user_id = ?";

  @Override
  public String title() {
    return "Two users send the same key";
  }

  @Override
  public String guarantee() {
    return "A key belongs to one user";
  }

  @Override
  public void play(Stage stage, Story story) {
    UUID key = DemoClient.newKey();
    DemoClient ada = stage.b.client(stage.ada).keyed(key);
    DemoClient grace = stage.b.client(stage.grace).keyed(key);
    Answer hers =
        story.call(
            stage.b,
            "Ada: CreateProject \"vostok\", key " + Answer.brief(key),
            () -> ada.createProject("vostok"));
    Answer other =
        story.call(
            stage.b,
            "Grace: the same call, with the same key",
            () -> grace.createProject("vostok"));
    story.expect("both handlers run", hers.isFirst() && other.isFirst());
    story.expect("the projects differ", !hers.response().equals(other.response()));
    story.rows(
        List.of(
            stage.row(1, "project of Ada", OF, stage.ada),
            stage.row(1, "project of Grace", OF, stage.grace),
            stage.records(2, key)));
  }
}
