package io.github.grpcidempotency.example.demo;

import io.github.grpcidempotency.example.organization.v1.CreateNamespaceRequest;
import io.github.grpcidempotency.example.organization.v1.CreateNamespaceResponse;
import io.github.grpcidempotency.example.organization.v1.DeleteNamespaceRequest;
import io.github.grpcidempotency.example.organization.v1.NamespaceServiceGrpc;
import io.grpc.Status;
import java.util.UUID;

/** A delete, its retry, and two that come too late or ask for nothing. */
final class Deleting {
  private Deleting() {}

  static void deleteTwice(Stage stage, Story story) {
    DemoClient ada = stage.ada();
    String projectId = ada.newProject("skylab");
    int before = stage.rows().in("tenant.namespaces", ada.user());
    String id = newNamespace(ada, projectId);
    DemoClient keyed = ada.keyed();

    Answer first = story.call("DeleteNamespace " + id, () -> delete(keyed, id));
    story.expect("it is deleted", first.isOk() && !first.isReplayed());
    Answer retried = story.call("the same call, with the same key", () -> delete(keyed, id));
    story.expect("a retry is told the same", retried.isSameAs(first) && retried.isReplayed());
    story.counted(
        before, stage.rows().in("tenant.namespaces", ada.user()), "namespaces, as before");

    Answer late = story.call("the same, with another key", () -> delete(ada.keyed(), id));
    story.expect(
        "somebody else was faster, and it says so",
        late.isRefused(Status.Code.NOT_FOUND, "IDEMPOTENCY_RESOURCE_GONE"));
    String never = UUID.randomUUID().toString();
    Answer nothing = story.call("DeleteNamespace " + never, () -> delete(ada.keyed(), never));
    story.expect(
        "what was never there is not found, without a reason",
        nothing.isRefused(Status.Code.NOT_FOUND, ""));
  }

  private static String newNamespace(DemoClient client, String projectId) {
    return client
        .keyed()
        .call(
            NamespaceServiceGrpc.getCreateNamespaceMethod(),
            CreateNamespaceRequest.newBuilder().setProjectId(projectId).setName("orbit").build())
        .as(CreateNamespaceResponse.class)
        .getNamespace()
        .getId();
  }

  private static Answer delete(DemoClient client, String id) {
    return client.call(
        NamespaceServiceGrpc.getDeleteNamespaceMethod(),
        DeleteNamespaceRequest.newBuilder().setId(id).build());
  }
}
