package io.github.grpcidempotency.example.demo;

import com.google.protobuf.Timestamp;
import io.github.grpcidempotency.example.organization.v1.ClusterServiceGrpc;
import io.github.grpcidempotency.example.organization.v1.CreateClusterRequest;
import io.github.grpcidempotency.example.organization.v1.CreateClusterResponse;
import io.github.grpcidempotency.example.organization.v1.CreateNamespaceRequest;
import io.github.grpcidempotency.example.organization.v1.CreateNodePoolRequest;
import io.github.grpcidempotency.example.organization.v1.NamespaceServiceGrpc;
import io.grpc.Status;
import java.util.UUID;

/** A method can require a key, and can take the key from a field or another header. */
final class KeysFromElsewhere implements Scene {
  @Override
  public String title() {
    return "A method can require a key, or take it from a field or from another header";
  }

  @Override
  public void play(Stage stage, Story story) {
    DemoClient ada = stage.ada();
    String projectId = ada.newProject("skylab");

    Answer refused =
        story.call("CreateCluster without a key", () -> createCluster(ada, projectId, "leo-1"));
    story.expect(
        "the method requires a key",
        refused.isRefused(Status.Code.INVALID_ARGUMENT, "IDEMPOTENCY_KEY_REQUIRED"));

    CreateNodePoolRequest pool =
        CreateNodePoolRequest.newBuilder()
            .setClusterId(clusterId(createCluster(ada.keyed(), projectId, "leo-1")))
            .setName("telescopes")
            .setNodeCount(2)
            .setRequestId(UUID.randomUUID().toString())
            .build();
    Answer first = story.call("CreateNodePool with a request_id", () -> create(ada, pool));
    Answer again = story.call("the same", () -> create(ada, pool));
    story.expect("the request_id is the key", again.isReplayOf(first));

    DemoClient pipeline = ada.with("ci-step", "deploy-4711.3");
    CreateNamespaceRequest namespace =
        CreateNamespaceRequest.newBuilder()
            .setProjectId(projectId)
            .setName("crew")
            .setClientTime(Timestamp.newBuilder().setSeconds(1_763_700_000))
            .build();
    Answer step =
        story.call("CreateNamespace by a step of a pipeline", () -> create(pipeline, namespace));
    Answer later =
        story.call(
            "the step runs again, five minutes later by its clock",
            () ->
                create(
                    pipeline,
                    namespace.toBuilder()
                        .setClientTime(Timestamp.newBuilder().setSeconds(1_763_700_300))
                        .build()));
    story.expect(
        "the step is the key, and client_time is not part of the request", later.isReplayOf(step));
  }

  private static Answer createCluster(DemoClient client, String projectId, String region) {
    return client.call(
        ClusterServiceGrpc.getCreateClusterMethod(),
        CreateClusterRequest.newBuilder()
            .setProjectId(projectId)
            .setName("workshop")
            .setRegion(region)
            .build());
  }

  private static String clusterId(Answer created) {
    return created.as(CreateClusterResponse.class).getCluster().getId();
  }

  private static Answer create(DemoClient client, CreateNodePoolRequest request) {
    return client.call(ClusterServiceGrpc.getCreateNodePoolMethod(), request);
  }

  private static Answer create(DemoClient client, CreateNamespaceRequest request) {
    return client.call(NamespaceServiceGrpc.getCreateNamespaceMethod(), request);
  }
}
