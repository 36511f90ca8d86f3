package io.github.grpcidempotency.example.demo;

import com.github.f4b6a3.uuid.UuidCreator;
import com.google.protobuf.Timestamp;
import io.github.grpcidempotency.example.organization.v1.ClusterServiceGrpc;
import io.github.grpcidempotency.example.organization.v1.CreateClusterRequest;
import io.github.grpcidempotency.example.organization.v1.CreateClusterResponse;
import io.github.grpcidempotency.example.organization.v1.CreateNamespaceRequest;
import io.github.grpcidempotency.example.organization.v1.CreateNodePoolRequest;
import io.github.grpcidempotency.example.organization.v1.NamespaceServiceGrpc;
import io.grpc.Status;
import java.time.Instant;
import java.util.UUID;

final class SayWhereTheKeyIs implements Step {
  @Override
  public String title() {
    return "Each method says whether it needs a key, and where the key comes from";
  }

  @Override
  public void play(Stage stage, Story story) {
    String projectId = stage.ada().newProject("skylab", UuidCreator.getTimeOrderedEpoch());
    String clusterId = requireAKey(stage.ada(), story, projectId);
    readTheRequestId(stage, story, clusterId);
    nameTheBuildStep(stage, story, projectId);
  }

  private static String requireAKey(DemoClient ada, Story story, String projectId) {
    story.sent("CreateCluster \"workshop\", without a key");
    Answer refused = createCluster(ada, projectId);
    story.cameBack(refused);
    story.expect(
        "clusters cost money, so that is refused",
        refused.isRefused(Status.Code.INVALID_ARGUMENT, "IDEMPOTENCY_KEY_REQUIRED"));

    story.sent("the same with a key");
    Answer created = createCluster(ada.keyed(UuidCreator.getTimeOrderedEpoch()), projectId);
    story.cameBack(created);
    return created.as(CreateClusterResponse.class).getCluster().getId();
  }

  private static void readTheRequestId(Stage stage, Story story, String clusterId) {
    UUID requestId = UUID.randomUUID();
    story.sent("CreateNodePool, twice, with the request_id of AIP-155 and no header");
    story.cameBack(createNodePool(stage.ada(), clusterId, requestId));
    Answer again = createNodePool(stage.ada(), clusterId, requestId);
    story.cameBack(again);
    story.expect("the second is a replay", again.isReplayed());
    story.counted(1, stage.rows().in("tenant.node_pools", stage.ada().user()), "node pool");
  }

  private static void nameTheBuildStep(Stage stage, Story story, String projectId) {
    DemoClient pipeline = stage.ada().with("ci-step", "deploy-4711.3");
    story.sent("CreateNamespace by a pipeline, whose step is run again; client_time has moved on");
    story.cameBack(createNamespace(pipeline, projectId, Instant.parse("2026-11-21T10:00:00Z")));
    Answer again = createNamespace(pipeline, projectId, Instant.parse("2026-11-21T10:05:00Z"));
    story.cameBack(again);
    story.expect("the time is no part of the request: a replay", again.isReplayed());
    story.counted(1, stage.rows().in("tenant.namespaces", stage.ada().user()), "namespace");
  }

  private static Answer createCluster(DemoClient client, String projectId) {
    return client.call(
        ClusterServiceGrpc.getCreateClusterMethod(),
        CreateClusterRequest.newBuilder()
            .setProjectId(projectId)
            .setName("workshop")
            .setRegion("leo-1")
            .build(),
        response -> "cluster " + response.getCluster().getId());
  }

  private static Answer createNodePool(DemoClient client, String clusterId, UUID requestId) {
    return client.call(
        ClusterServiceGrpc.getCreateNodePoolMethod(),
        CreateNodePoolRequest.newBuilder()
            .setClusterId(clusterId)
            .setName("telescopes")
            .setNodeCount(2)
            .setRequestId(requestId.toString())
            .build(),
        response -> "node pool " + response.getNodePool().getId());
  }

  private static Answer createNamespace(DemoClient client, String projectId, Instant now) {
    return client.call(
        NamespaceServiceGrpc.getCreateNamespaceMethod(),
        CreateNamespaceRequest.newBuilder()
            .setProjectId(projectId)
            .setName("crew")
            .setClientTime(Timestamp.newBuilder().setSeconds(now.getEpochSecond()))
            .build(),
        response -> "namespace " + response.getNamespace().getId());
  }
}
