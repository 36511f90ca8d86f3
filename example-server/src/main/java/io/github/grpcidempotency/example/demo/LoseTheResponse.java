package io.github.grpcidempotency.example.demo;

import com.github.f4b6a3.uuid.UuidCreator;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

final class LoseTheResponse implements Step {
  private static final String NAME = "gemini";

  @Override
  public String title() {
    return "The response is lost on its way, so Ada sends the same call again";
  }

  @Override
  public void play(Stage stage, Story story) {
    UUID key = UuidCreator.getTimeOrderedEpoch();
    story.sent("CreateProject \"gemini\", on a network that drops what the server answers");
    Answer lost = createOnLossyNetwork(stage, key);
    story.cameBack(lost);
    story.expect("the client was left without an answer", !lost.isOk());
    story.counted(1, projects(stage), "project \"gemini\" all the same");

    story.sent("the same call, with the same key");
    Answer retried = stage.ada().createProject(NAME, key);
    story.cameBack(retried);
    story.expect("it succeeded, as a replay", retried.isOk() && retried.isReplayed());

    story.sent("and once more");
    Answer again = stage.ada().createProject(NAME, key);
    story.cameBack(again);
    story.expect("it has the same id", again.isSameAs(retried));
    story.counted(1, projects(stage), "project \"gemini\"");
    story.counted(
        1, stage.rows().outboxEntries(stage.ada().user(), NAME), "outbox entry for \"gemini\"");
  }

  /** The connection is cut only once the server has done and recorded the call. */
  private static Answer createOnLossyNetwork(Stage stage, UUID key) {
    stage.network().loseAnswers();
    CompletableFuture<Answer> answer =
        CompletableFuture.supplyAsync(() -> stage.ada().createProject(NAME, key));
    Waiting.until(recorded -> recorded == 1, () -> stage.rows().recorded(stage.ada().user(), key));
    stage.network().cut();
    return answer.join();
  }

  private static int projects(Stage stage) {
    return stage.rows().projects(stage.ada().user(), NAME);
  }
}
