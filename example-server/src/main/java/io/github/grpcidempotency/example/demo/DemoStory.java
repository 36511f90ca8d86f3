package io.github.grpcidempotency.example.demo;

import io.github.grpcidempotency.example.run.database.EmbeddedDatabase;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.util.List;

/** The whole story, in its order. */
public final class DemoStory {
  private static final List<Step> STEPS =
      List.of(
          new CreateOnce(),
          new LoseTheResponse(),
          new SeeItComplete(),
          new RefuseAnotherBody(),
          new LeaveAnotherUserAlone(),
          new FiftyAtOnce(),
          new SeeOneFail(),
          new SayWhereTheKeyIs(),
          new ChooseTheId(),
          new InviteWithoutAKey(),
          new KeepNamespacesApart(),
          new KeepASecret(),
          new RevokeARight(),
          new ImportTwice(),
          new FireTheJobTwice(),
          new ChangeTheRetention(),
          new TakeAWebhookInOnce());

  private DemoStory() {}

  /**
   * Plays against a running server.
   *
   * @param database the server's own, to count rows in and to find the files beside it
   * @return whether all that should happen happened
   */
  public static boolean play(int serverPort, EmbeddedDatabase database, PrintStream out) {
    Story story = new Story(out);
    try (Stage stage = new Stage(serverPort, database)) {
      for (Step step : STEPS) {
        story.chapter(step.title());
        step.play(stage, story);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return story.end();
  }
}
