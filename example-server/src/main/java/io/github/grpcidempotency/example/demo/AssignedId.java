package io.github.grpcidempotency.example.demo;

import io.github.grpcidempotency.example.organization.v1.AddInstallRequest;
import io.github.grpcidempotency.example.organization.v1.ClusterServiceGrpc;
import io.grpc.Status;
import java.util.UUID;

/** The id that a caller chooses for a new resource is the key. */
final class AssignedId implements Scene {
  @Override
  public String title() {
    return "A controller chooses the id of what it creates: the id is the key";
  }

  @Override
  public void play(Stage stage, Story story) {
    DemoClient ada = stage.ada();
    String projectId = ada.newProject("ranger");
    AddInstallRequest request =
        AddInstallRequest.newBuilder()
            .setClusterId(
                KeysFromElsewhere.clusterId(
                    KeysFromElsewhere.createCluster(ada.keyed(), projectId, "leo-2")))
            .setName("guidance")
            .setVersion("1.0")
            .setInstallId(UUID.randomUUID().toString())
            .build();

    Answer created =
        story.call(
            "AddInstall \"guidance\" 1.0, install_id: " + request.getInstallId(),
            () -> add(ada, request));
    Answer existed =
        story.call("the same, as a controller sends it at every start", () -> add(ada, request));
    story.expect(
        "idempotency-replayed distinguishes created from existed",
        created.isFirst() && existed.isReplayOf(created));
    Answer refused =
        story.call(
            "version 2.0 under the same id",
            () -> add(ada, request.toBuilder().setVersion("2.0").build()));
    story.expect(
        "an id stands for one install",
        refused.isRefused(Status.Code.INVALID_ARGUMENT, "IDEMPOTENCY_KEY_REUSED"));
  }

  private static Answer add(DemoClient client, AddInstallRequest request) {
    return client.call(ClusterServiceGrpc.getAddInstallMethod(), request);
  }
}
