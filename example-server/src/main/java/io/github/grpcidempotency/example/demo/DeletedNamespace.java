package io.github.grpcidempotency.example.demo;

import io.github.grpcidempotency.example.organization.v1.CreateNamespaceRequest;
import io.github.grpcidempotency.example.organization.v1.CreateNamespaceResponse;
import io.github.grpcidempotency.example.organization.v1.DeleteNamespaceRequest;
import io.github.grpcidempotency.example.organization.v1.NamespaceServiceGrpc;
import io.grpc.Status;
import java.util.UUID;

/** A delete, its retry, and deletes that find nothing. */
final class DeletedNamespace implements Scene {
  @Override
  public String title() {
    return "A namespace is deleted, and then once more: by a retry, and by another call";
  }

  @Override
  public void play(Stage stage, Story story) {
    DemoClient ada = stage.ada().keyed();
    String id =
        stage
            .ada()
            .call(
                NamespaceServiceGrpc.getCreateNamespaceMethod(),
                CreateNamespaceRequest.newBuilder()
                    .setProjectId(stage.ada().newProject("salyut"))
                    .setName("orbit")
                    .build())
            .as(CreateNamespaceResponse.class)
            .getNamespace()
            .getId();
    Answer first = story.call("DeleteNamespace " + id, () -> delete(ada, id));
    Answer retried = story.call("the same call, with the same key", () -> delete(ada, id));
    story.expect("the retry gets the first answer", retried.isReplayOf(first));
    Answer late = story.call("the same, with another key", () -> delete(ada.keyed(), id));
    story.expect(
        "another call was faster, and the error has that reason",
        late.isRefused(Status.Code.NOT_FOUND, "IDEMPOTENCY_RESOURCE_GONE"));
    String never = UUID.randomUUID().toString();
    Answer nothing = story.call("DeleteNamespace " + never, () -> delete(ada.keyed(), never));
    story.expect(
        "a namespace that never existed is only not found",
        nothing.isRefused(Status.Code.NOT_FOUND, ""));
  }

  private static Answer delete(DemoClient client, String id) {
    return client.call(
        NamespaceServiceGrpc.getDeleteNamespaceMethod(),
        DeleteNamespaceRequest.newBuilder().setId(id).build());
  }
}
