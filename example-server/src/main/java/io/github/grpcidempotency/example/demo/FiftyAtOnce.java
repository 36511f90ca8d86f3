package io.github.grpcidempotency.example.demo;

import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

/** The database decides the race. gRPC's own retries wait for the winner. */
final class FiftyAtOnce implements Scene {
  private static final int CALLS = 50;

  @Override
  public String title() {
    return "Fifty calls with one key, to both servers at once";
  }

  @Override
  public String guarantee() {
    return "One key, one effect: all calls get the same answer";
  }

  @Override
  public void play(Stage stage, Story story) {
    story.await("server A starts again", stage.a::await);
    UUID key = DemoClient.newKey();
    DemoClient one = stage.a.client(stage.ada).keyed(key);
    DemoClient other = stage.b.client(stage.ada).keyed(key);
    story.sent("AB", "50 x CreateProject \"voyager\", key " + Answer.brief(key));
    List<CompletableFuture<Answer>> calls =
        IntStream.range(0, CALLS)
            .mapToObj(call -> call % 2 == 0 ? one : other)
            .map(client -> Threads.supply(() -> client.createProject("voyager")))
            .toList();
    List<Answer> answers =
        story.await(
            "one handler runs, and the other calls wait",
            () -> calls.stream().map(CompletableFuture::join).toList());
    Answer replay = answers.stream().filter(Answer::isReplayed).findAny().orElse(answers.get(0));
    story.cameBack("AB", replay);
    long replays = answers.stream().filter(Answer::isReplayed).count();
    story.note(replays + " of 50 are replays");
    story.expect(
        "all have the same answer",
        replay.isOk()
            && answers.stream().allMatch(each -> each.response().equals(replay.response())));
    story.expect("49 are replays", replays == CALLS - 1);
    story.rows(
        List.of(
            stage.row(1, "project", "tenant.projects WHERE name = 'voyager'"),
            stage.records(1, key)));
  }
}
