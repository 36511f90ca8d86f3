package io.github.grpcidempotency.example.demo;

import com.github.f4b6a3.uuid.UuidCreator;
import io.github.grpcidempotency.example.organization.v1.AddInstallRequest;
import io.github.grpcidempotency.example.organization.v1.ClusterServiceGrpc;
import io.github.grpcidempotency.example.organization.v1.CreateClusterRequest;
import io.github.grpcidempotency.example.organization.v1.CreateClusterResponse;
import io.grpc.Status;
import java.util.UUID;

final class ChooseTheId implements Step {
  @Override
  public String title() {
    return "A controller mints the id of what it wants to be there: the id is the key";
  }

  @Override
  public void play(Stage stage, Story story) {
    String clusterId = newCluster(stage.ada());
    UUID installId = UuidCreator.getTimeOrderedEpoch();
    story.sent("AddInstall \"guidance\" 1.0 under the id " + installId);
    Answer created = addInstall(stage.ada(), clusterId, "1.0", installId);
    story.cameBack(created);
    story.expect("it was installed now", created.isOk() && !created.isReplayed());

    story.sent("the same, as a controller does that starts anew");
    Answer existed = addInstall(stage.ada(), clusterId, "1.0", installId);
    story.cameBack(existed);
    story.expect("it had been there", existed.isReplayed() && existed.isSameAs(created));

    story.sent("version 2.0 under the same id");
    Answer refused = addInstall(stage.ada(), clusterId, "2.0", installId);
    story.cameBack(refused);
    story.expect(
        "an id stands for one install",
        refused.isRefused(Status.Code.INVALID_ARGUMENT, "IDEMPOTENCY_KEY_REUSED"));
    story.counted(1, stage.rows().in("tenant.installs", stage.ada().user()), "install");
  }

  private static String newCluster(DemoClient client) {
    UUID key = UuidCreator.getTimeOrderedEpoch();
    String projectId = client.newProject("ranger", key);
    return client
        .keyed(UuidCreator.getTimeOrderedEpoch())
        .call(
            ClusterServiceGrpc.getCreateClusterMethod(),
            CreateClusterRequest.newBuilder()
                .setProjectId(projectId)
                .setName("probe")
                .setRegion("moon-1")
                .build(),
            response -> "cluster " + response.getCluster().getId())
        .as(CreateClusterResponse.class)
        .getCluster()
        .getId();
  }

  private static Answer addInstall(
      DemoClient client, String clusterId, String version, UUID installId) {
    return client.call(
        ClusterServiceGrpc.getAddInstallMethod(),
        AddInstallRequest.newBuilder()
            .setClusterId(clusterId)
            .setName("guidance")
            .setVersion(version)
            .setInstallId(installId.toString())
            .build(),
        response ->
            "install %s %s"
                .formatted(response.getInstall().getName(), response.getInstall().getVersion()));
  }
}
