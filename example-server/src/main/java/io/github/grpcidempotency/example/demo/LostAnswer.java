package io.github.grpcidempotency.example.demo;

import com.google.protobuf.InvalidProtocolBufferException;
import io.github.grpcidempotency.example.organization.v1.CreateProjectResponse;
import io.github.grpcidempotency.example.organization.v1.ProjectServiceGrpc;
import io.github.grpcidempotency.proto.v1.RecoverRequest;
import io.github.grpcidempotency.proto.v1.RecoverResponse;
import io.github.grpcidempotency.proto.v1.RecoveryGrpc;
import io.grpc.Status;

/** A retry, and a recovery without the request. */
final class LostAnswer implements Scene {
  @Override
  public String title() {
    return "The answer is lost, so Ada sends the same call again";
  }

  @Override
  public void play(Stage stage, Story story) throws InvalidProtocolBufferException {
    String key = DemoClient.newKey().toString();
    DemoClient ada = stage.ada().with("idempotency-key", key);

    Answer lost =
        story.call(
            "CreateProject \"gemini\", idempotency-key: " + key,
            () -> ada.losingAnswers().createProject("gemini"));
    story.expect("Ada has no answer", !lost.isOk());

    Answer retried =
        story.call("the same call, with the same key", () -> ada.createProject("gemini"));
    story.expect("the retry gets the first answer", retried.isReplayed());
    story.counted(
        1,
        stage.count("tenant.projects WHERE user_id = ? AND name = 'gemini'", ada.user()),
        "project \"gemini\"");

    RecoverRequest request =
        RecoverRequest.newBuilder()
            .setMethod(ProjectServiceGrpc.getCreateProjectMethod().getFullMethodName())
            .setKey(key)
            .build();
    Answer found =
        story.call(
            "Recover: Ada has lost her request as well, and has only the key",
            () -> stage.ada().call(RecoveryGrpc.getRecoverMethod(), request));
    story.expect(
        "she gets the same answer",
        found
            .as(RecoverResponse.class)
            .getResponse()
            .unpack(CreateProjectResponse.class)
            .equals(retried.as(CreateProjectResponse.class)));
    Answer stranger =
        story.call(
            "Recover: Grace tries Ada's key",
            () -> stage.grace().call(RecoveryGrpc.getRecoverMethod(), request));
    story.expect(
        "Grace gets nothing", stranger.isRefused(Status.Code.NOT_FOUND, "IDEMPOTENCY_KEY_UNKNOWN"));
  }
}
