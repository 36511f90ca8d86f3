package io.github.grpcidempotency.example.demo;

import com.github.f4b6a3.uuid.UuidCreator;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

final class FiftyAtOnce implements Step {
  private static final int CALLS = 50;
  private static final String NAME = "voyager";

  @Override
  public String title() {
    return "Fifty calls with one key, all at once";
  }

  @Override
  public void play(Stage stage, Story story) {
    story.sent("fifty times CreateProject \"voyager\", with the same key");
    List<Answer> answers = createAtOnce(stage.ada(), UuidCreator.getTimeOrderedEpoch());
    Answer any = answers.get(0);
    story.cameBack(any);
    story.expect("all fifty succeeded", answers.stream().allMatch(Answer::isOk));
    story.expect(
        "all fifty have the same id", answers.stream().allMatch(answer -> answer.isSameAs(any)));
    story.expect(
        "forty-nine were replays",
        answers.stream().filter(Answer::isReplayed).count() == CALLS - 1);
    story.counted(1, stage.rows().projects(stage.ada().user(), NAME), "project \"voyager\"");
  }

  private static List<Answer> createAtOnce(DemoClient client, UUID key) {
    ExecutorService threads = Executors.newFixedThreadPool(CALLS);
    CyclicBarrier start = new CyclicBarrier(CALLS);
    try {
      Callable<Answer> call =
          () -> {
            start.await();
            return client.createProject(NAME, key);
          };
      List<Answer> answers = new ArrayList<>();
      for (Future<Answer> future : threads.invokeAll(Collections.nCopies(CALLS, call))) {
        answers.add(future.get());
      }
      return answers;
    } catch (InterruptedException | ExecutionException e) {
      throw new IllegalStateException("not all calls were answered", e);
    } finally {
      threads.shutdownNow();
    }
  }
}
