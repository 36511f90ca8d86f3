package io.github.grpcidempotency.example.demo;

import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** The database decides the race. gRPC's own retries wait for the winner. */
final class FiftyAtOnce implements Scene {
  private static final int CALLS = 50;

  @Override
  public String title() {
    return "Fifty calls with one key, all at once";
  }

  @Override
  public void play(Stage stage, Story story) throws InterruptedException, ExecutionException {
    DemoClient ada = stage.ada().keyed();
    story.sent("fifty times CreateProject \"voyager\", with the same key");
    ExecutorService threads = Executors.newFixedThreadPool(CALLS);
    try {
      Callable<Answer> call = () -> ada.createProject("voyager");
      List<Future<Answer>> answers = threads.invokeAll(Collections.nCopies(CALLS, call));
      Answer any = answers.get(0).get();
      story.cameBack(any);
      int same = 0;
      int replays = 0;
      for (Future<Answer> answer : answers) {
        same += answer.get().response().equals(any.response()) ? 1 : 0;
        replays += answer.get().isReplayed() ? 1 : 0;
      }
      story.expect("all fifty have the same answer", any.isOk() && same == CALLS);
      story.expect("forty-nine are replays", replays == CALLS - 1);
    } finally {
      threads.shutdownNow();
    }
    story.counted(
        1,
        stage.count("tenant.projects WHERE user_id = ? AND name = 'voyager'", ada.user()),
        "project \"voyager\"");
  }
}
