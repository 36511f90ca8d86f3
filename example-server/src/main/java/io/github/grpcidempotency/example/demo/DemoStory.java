package io.github.grpcidempotency.example.demo;

import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.util.List;
import javax.sql.DataSource;

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
          new SeeOneFail());

  private DemoStory() {}

  /**
   * Plays against a running server.
   *
   * @param superuser the server's database, to count rows in
   * @return whether all that should happen happened
   */
  public static boolean play(int serverPort, DataSource superuser, PrintStream out) {
    Story story = new Story(out);
    try (Stage stage = new Stage(serverPort, superuser)) {
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
