package io.github.grpcidempotency.example.demo;

import io.grpc.Status;
import java.util.UUID;

/** A key stands for one request of one caller in one place. */
final class OneKeyOneRequest implements Scene {
  @Override
  public String title() {
    return "A key stands for one request of one user, in one organization";
  }

  @Override
  public void play(Stage stage, Story story) {
    UUID key = DemoClient.newKey();
    DemoClient ada = stage.ada().keyed(key);
    DemoClient grace = stage.grace().keyed(key);

    Answer first = story.call("CreateProject \"vostok\"", () -> ada.createProject("vostok"));
    Answer other = story.call("\"voskhod\", with the same key", () -> ada.createProject("voskhod"));
    story.expect(
        "another request with the same key is refused",
        other.isRefused(Status.Code.INVALID_ARGUMENT, "IDEMPOTENCY_KEY_REUSED"));

    Answer hers =
        story.call("Grace uses the same key as Ada by chance", () -> grace.createProject("vostok"));
    story.expect("Grace gets a project of her own", hers.isFirst() && !hers.equals(first));

    Answer elsewhere =
        story.call(
            "Ada uses her key in the organization nasa",
            () -> ada.with("organization", "nasa").createProject("vostok"));
    story.expect("the key is unused there", elsewhere.isFirst());
    story.counted(
        2,
        stage.count("tenant.projects WHERE user_id = ? AND name = 'vostok'", ada.user()),
        "projects \"vostok\" of Ada");
  }
}
