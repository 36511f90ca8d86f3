package io.github.grpcidempotency.example.demo;

import io.github.grpcidempotency.cli.Main;
import io.github.grpcidempotency.example.organization.v1.CreateProjectResponse;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Map;
import java.util.UUID;

/** What an operator sees of calls, and what not: with {@code idempotency}, as it is run by hand. */
final class Operating {
  private Operating() {}

  static void tellTheStoryOfAKey(Stage stage, Story story) {
    UUID key = DemoClient.newKey();
    DemoClient ada = stage.ada();
    Answer created = story.call("CreateProject \"mir\"", () -> ada.createProject("mir", key));
    String project = created.as(CreateProjectResponse.class).getProject().getId();
    story.expect("a retry is a replay", ada.createProject("mir", key).isReplayed());

    Result shown = run(stage, story, "show", key.toString());
    story.expect(
        "the operator sees who called what, and that it is recorded",
        shown.code() == 0
            && shown.output().contains(ada.user().toString())
            && shown.output().contains("ProjectService/CreateProject")
            && shown.output().contains("completed"));
    story.expect("and what it has made", shown.output().contains("project/" + project));

    Result listed = run(stage, story, "list", "--of-user", ada.user().toString(), "--limit", "3");
    story.expect(
        "a list shows operations, and nobody's key",
        listed.code() == 0
            && listed.output().lines().count() >= 4
            && !listed.output().contains(key.toString()));

    Result refused =
        run(stage, story, "show", key.toString(), "--contents", "--reason", "curiosity");
    story.expect("for the answer itself it lacks the right", refused.code() == 4);
  }

  private static Result run(Stage stage, Story story, String... arguments) {
    story.sent("idempotency " + String.join(" ", arguments));
    StringWriter output = new StringWriter();
    PrintWriter writer = new PrintWriter(output);
    int code =
        Main.run(
            Map.of("IDEMPOTENCY_URL", stage.database().operatorUrl(), "COLUMNS", "100"),
            writer,
            writer,
            arguments);
    writer.flush();
    output.toString().lines().filter(line -> !line.isBlank()).forEach(story::cameBack);
    return new Result(code, output.toString());
  }

  private record Result(int code, String output) {}
}
