package io.github.grpcidempotency.example.demo;

import io.grpc.Status;
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
import java.util.stream.Stream;

/** One key stands for one request of one caller, however often the request comes. */
final class OneKey {
  private static final int CALLS = 50;

  private OneKey() {}

  static void refuseAnotherBody(Stage stage, Story story) {
    UUID key = DemoClient.newKey();
    story.call("CreateProject \"vostok\"", () -> stage.ada().createProject("vostok", key));
    Answer refused =
        story.call(
            "CreateProject \"voskhod\", with the same key",
            () -> stage.ada().createProject("voskhod", key));
    story.expect(
        "it was refused as a reused key, and why is in the error's details",
        refused.isRefused(Status.Code.INVALID_ARGUMENT, "IDEMPOTENCY_KEY_REUSED"));
    story.counted(0, stage.rows().projects(stage.ada().user(), "voskhod"), "projects \"voskhod\"");
  }

  static void leaveAnotherUserAlone(Stage stage, Story story) {
    UUID key = DemoClient.newKey();
    Answer ada =
        story.call("Ada: CreateProject \"soyuz\"", () -> stage.ada().createProject("soyuz", key));
    Answer grace =
        story.call(
            "Grace: CreateProject \"soyuz\", with the same key",
            () -> stage.grace().createProject("soyuz", key));
    story.expect(
        "Grace has a project of her own, and no replay",
        grace.isOk() && !grace.isSameAs(ada) && !grace.isReplayed());
    story.counted(1, stage.rows().projects(stage.ada().user(), "soyuz"), "project of Ada");
    story.counted(1, stage.rows().projects(stage.grace().user(), "soyuz"), "project of Grace");
  }

  static void callFiftyTimesAtOnce(Stage stage, Story story) {
    story.sent("fifty times CreateProject \"voyager\", with the same key");
    UUID key = DemoClient.newKey();
    List<Answer> answers =
        atOnce(Collections.nCopies(CALLS, () -> stage.ada().createProject("voyager", key)));
    Answer any = answers.get(0);
    story.cameBack(any);
    story.expect("all fifty succeeded", answers.stream().allMatch(Answer::isOk));
    story.expect(
        "all fifty have the same id", answers.stream().allMatch(answer -> answer.isSameAs(any)));
    story.expect(
        "forty-nine were replays",
        answers.stream().filter(Answer::isReplayed).count() == CALLS - 1);
    story.counted(1, stage.rows().projects(stage.ada().user(), "voyager"), "project \"voyager\"");
  }

  /** Runs each task in a separate thread. None begins before all threads are ready. */
  static <T> List<T> atOnce(List<Callable<T>> works) {
    ExecutorService threads = Executors.newFixedThreadPool(works.size());
    CyclicBarrier start = new CyclicBarrier(works.size());
    try {
      List<Future<T>> running = new ArrayList<>();
      for (Callable<T> work : works) {
        running.add(
            threads.submit(
                () -> {
                  start.await();
                  return work.call();
                }));
      }
      List<T> results = new ArrayList<>();
      for (Future<T> result : running) {
        results.add(result.get());
      }
      return results;
    } catch (InterruptedException | ExecutionException e) {
      throw new IllegalStateException("not everything came to its end", e);
    } finally {
      threads.shutdownNow();
    }
  }

  static void keepNamespacesApart(Stage stage, Story story) {
    UUID key = DemoClient.newKey();
    DemoClient ada = stage.ada();
    DemoClient nasa = ada.with("organization", "nasa");
    DemoClient nasaProject = nasa.with("project", "deep-space");
    DemoClient esaProject = ada.with("organization", "esa").with("project", "deep-space");
    createIn("above organizations", ada, key, story);
    createIn("in nasa, above its projects", nasa, key, story);
    createIn("in nasa, in its project deep-space", nasaProject, key, story);
    createIn("in esa, in its project deep-space", esaProject, key, story);
    story.expect(
        "each is replayed in its own place",
        Stream.of(ada, nasa, nasaProject, esaProject)
            .allMatch(place -> place.createProject("pioneer", key).isReplayed()));
    story.counted(4, stage.rows().projects(ada.user(), "pioneer"), "projects \"pioneer\"");
  }

  private static void createIn(String place, DemoClient client, UUID key, Story story) {
    Answer created =
        story.call(
            "CreateProject \"pioneer\", " + place, () -> client.createProject("pioneer", key));
    story.expect("nobody had used the key here", created.isOk() && !created.isReplayed());
  }
}
