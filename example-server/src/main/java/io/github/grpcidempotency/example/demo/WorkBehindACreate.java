package io.github.grpcidempotency.example.demo;

import com.google.longrunning.Operation;
import com.google.longrunning.OperationsGrpc;
import com.google.longrunning.WaitOperationRequest;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.util.Durations;
import io.github.grpcidempotency.grpc.IdempotencyMetadata;
import io.github.grpcidempotency.proto.v1.OperationMetadata;
import java.util.UUID;

/** The status of a create's asynchronous work, and a client that waits for its end. */
final class WorkBehindACreate implements Scene {
  @Override
  public String title() {
    return "A create starts asynchronous work, and a client waits for its end";
  }

  @Override
  public void play(Stage stage, Story story) {
    UUID key = DemoClient.newKey();
    Answer first =
        story.call(
            "CreateProject \"mercury\"", () -> stage.ada().keyed(key).createProject("mercury"));
    story.expect(
        "its work is processing", first.trailer(IdempotencyMetadata.STATUS).equals("processing"));
    story.expect(
        "WaitOperation returns when the work is completed",
        await(stage.ada(), first) == OperationMetadata.State.STATE_COMPLETED);
    Answer retry =
        story.call("the same call", () -> stage.ada().keyed(key).createProject("mercury"));
    story.expect(
        "the replay has the status completed",
        retry.isReplayOf(first) && retry.trailer(IdempotencyMetadata.STATUS).equals("completed"));

    Answer failing =
        story.call(
            "CreateProject \"fail-mariner\", a name for which the work fails",
            () -> stage.ada().keyed().createProject("fail-mariner"));
    story.expect(
        "the client gets the state failed",
        await(stage.ada(), failing) == OperationMetadata.State.STATE_FAILED);
  }

  private static OperationMetadata.State await(DemoClient client, Answer created) {
    WaitOperationRequest wait =
        WaitOperationRequest.newBuilder()
            .setName(created.trailer(IdempotencyMetadata.OPERATION))
            .setTimeout(Durations.fromSeconds(15))
            .build();
    Operation operation =
        client.call(OperationsGrpc.getWaitOperationMethod(), wait).as(Operation.class);
    try {
      return operation.getMetadata().unpack(OperationMetadata.class).getState();
    } catch (InvalidProtocolBufferException malformed) {
      throw new IllegalStateException(malformed);
    }
  }
}
