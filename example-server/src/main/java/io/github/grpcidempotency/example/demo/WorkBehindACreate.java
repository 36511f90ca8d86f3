package io.github.grpcidempotency.example.demo;

import com.google.longrunning.Operation;
import com.google.longrunning.OperationsGrpc;
import com.google.longrunning.WaitOperationRequest;
import com.google.protobuf.util.Durations;
import io.github.grpcidempotency.grpc.IdempotencyMetadata;
import java.util.List;
import java.util.UUID;

/** The status of a create's asynchronous work, and a client that waits for its end. */
final class WorkBehindACreate implements Scene {
  @Override
  public String title() {
    return "A create leaves work in the outbox";
  }

  @Override
  public String guarantee() {
    return "A replay reports the status that the work has now";
  }

  @Override
  public void play(Stage stage, Story story) {
    UUID key = DemoClient.newKey();
    DemoClient ada = stage.b.client(stage.ada).keyed(key);
    Answer first =
        story.call(
            stage.b,
            "CreateProject \"mercury\", key " + Answer.brief(key),
            () -> ada.createProject("mercury"));
    WaitOperationRequest wait =
        WaitOperationRequest.newBuilder()
            .setName(first.trailer(IdempotencyMetadata.OPERATION))
            .setTimeout(Durations.fromSeconds(15))
            .build();
    story.sent(stage.b, "WaitOperation " + Answer.brief(wait.getName()));
    Answer done =
        story.await(
            "a worker of a server does the work",
            () -> stage.b.client(stage.ada).call(OperationsGrpc.getWaitOperationMethod(), wait));
    story.cameBack(stage.b, done);
    Answer retry = story.call(stage.b, "CreateProject again", () -> ada.createProject("mercury"));
    story.expect("the work was processing", first.hasStatus("processing"));
    story.expect("the operation is done", done.as(Operation.class).getDone());
    story.expect("the work is completed", retry.isReplayOf(first) && retry.hasStatus("completed"));
    story.rows(
        List.of(
            stage.row(
                1,
                "outbox entry completed",
                "authz.outbox WHERE resource_name = 'mercury' AND status = 'completed'"),
            stage.records(1, key)));
  }
}
