package io.github.grpcidempotency.example.demo;

import com.google.protobuf.InvalidProtocolBufferException;
import io.github.grpcidempotency.example.organization.v1.CreateProjectResponse;
import io.github.grpcidempotency.example.organization.v1.ProjectServiceGrpc;
import io.github.grpcidempotency.proto.v1.RecoverRequest;
import io.github.grpcidempotency.proto.v1.RecoverResponse;
import io.github.grpcidempotency.proto.v1.RecoveryGrpc;
import io.grpc.Metadata;
import io.grpc.Status;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

/** A create, its retries, and the asynchronous work behind it. */
final class Retrying {
  private Retrying() {}

  static void createOnce(Stage stage, Story story) {
    UUID key = DemoClient.newKey();
    Answer answer =
        story.call(
            "CreateProject \"apollo\", idempotency-key: " + key,
            () -> stage.ada().createProject("apollo", key));
    story.expect("it succeeded, and was no replay", answer.isOk() && !answer.isReplayed());
    story.expect(
        "the work behind it is still processing", answer.idempotencyStatus().equals("processing"));
    story.counted(1, stage.rows().projects(stage.ada().user(), "apollo"), "project \"apollo\"");
  }

  static void loseTheResponse(Stage stage, Story story) {
    UUID user = stage.ada().user();
    UUID key = DemoClient.newKey();
    Answer lost =
        story.call(
            "CreateProject \"gemini\", on a network that drops what the server answers",
            () -> createOnLossyNetwork(stage, key));
    story.expect("the client was left without an answer", !lost.isOk());
    story.counted(1, stage.rows().projects(user, "gemini"), "project \"gemini\" all the same");

    Answer retried =
        story.call(
            "the same call, with the same key", () -> stage.ada().createProject("gemini", key));
    story.expect("it succeeded, as a replay", retried.isOk() && retried.isReplayed());
    Answer again = story.call("and once more", () -> stage.ada().createProject("gemini", key));
    story.expect("it has the same id", again.isSameAs(retried));
    story.counted(1, stage.rows().projects(user, "gemini"), "project \"gemini\"");
    story.counted(1, stage.rows().outboxEntries(user, "gemini"), "outbox entry for \"gemini\"");

    Answer found =
        story.call(
            "Recover, by method and key, as a client that has lost its request as well",
            () -> recover(stage.ada(), key));
    story.expect("it found the same answer", found.isSameAs(retried));
    Answer stranger = story.call("Grace asks for Ada's key", () -> recover(stage.grace(), key));
    story.expect(
        "of that key nothing is known",
        stranger.isRefused(Status.Code.NOT_FOUND, "IDEMPOTENCY_KEY_UNKNOWN"));
  }

  /** Asks for a recorded answer, and unpacks it. */
  private static Answer recover(DemoClient client, UUID key) {
    Answer found =
        client.call(
            RecoveryGrpc.getRecoverMethod(),
            RecoverRequest.newBuilder()
                .setMethod(ProjectServiceGrpc.getCreateProjectMethod().getFullMethodName())
                .setKey(key.toString())
                .build());
    return found.isOk() ? recorded(found.as(RecoverResponse.class)) : found;
  }

  private static Answer recorded(RecoverResponse found) {
    try {
      return Answer.of(found.getResponse().unpack(CreateProjectResponse.class), new Metadata());
    } catch (InvalidProtocolBufferException e) {
      throw new IllegalStateException("another answer was found", e);
    }
  }

  /** The connection is cut only once the server has done and recorded the call. */
  private static Answer createOnLossyNetwork(Stage stage, UUID key) {
    stage.network().loseAnswers();
    CompletableFuture<Answer> answer =
        CompletableFuture.supplyAsync(() -> stage.ada().createProject("gemini", key));
    Waiting.until(recorded -> recorded == 1, () -> stage.rows().recorded(stage.ada().user(), key));
    stage.network().cut();
    return answer.join();
  }

  static void seeItComplete(Stage stage, Story story) {
    UUID key = DemoClient.newKey();
    Answer first =
        story.call("CreateProject \"mercury\"", () -> stage.ada().createProject("mercury", key));
    story.expect("at first it is processing", first.idempotencyStatus().equals("processing"));
    Answer last =
        story.call(
            "the same, in one call that waits on the server for the end of the work",
            () -> stage.ada().createProjectAndAwait("mercury", key));
    story.expect("then it is completed", last.idempotencyStatus().equals("completed"));
    story.expect("it has the same id", last.isSameAs(first));
    story.counted(
        1,
        stage.rows().tuples(stage.ada().user(), "mercury"),
        "authorization tuple for \"mercury\"");
  }

  static void seeOneFail(Stage stage, Story story) {
    UUID user = stage.ada().user();
    UUID key = DemoClient.newKey();
    String name = "fail-challenger";
    Answer first =
        story.call(
            "CreateProject \"fail-challenger\", a name for which no authorization is written",
            () -> stage.ada().createProject(name, key));
    Answer last =
        story.call(
            "the same call, until it is not processing any more",
            () -> settled(stage.ada(), name, key));
    story.expect("it failed", last.idempotencyStatus().equals("failed"));
    story.expect("it still answers with the same id", last.isSameAs(first));
    story.counted(1, stage.rows().projects(user, name), "project without rights");
    story.counted(0, stage.rows().tuples(user, name), "authorization tuples for it");
  }

  private static Answer settled(DemoClient client, String name, UUID key) {
    return Waiting.until(
        answer -> !answer.idempotencyStatus().equals("processing"),
        () -> client.createProject(name, key));
  }
}
