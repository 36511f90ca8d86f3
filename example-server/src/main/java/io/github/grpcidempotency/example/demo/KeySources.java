package io.github.grpcidempotency.example.demo;

import com.google.protobuf.Timestamp;
import io.github.grpcidempotency.example.organization.v1.AddInstallRequest;
import io.github.grpcidempotency.example.organization.v1.Cluster;
import io.github.grpcidempotency.example.organization.v1.ClusterServiceGrpc;
import io.github.grpcidempotency.example.organization.v1.CreateClusterRequest;
import io.github.grpcidempotency.example.organization.v1.CreateClusterResponse;
import io.github.grpcidempotency.example.organization.v1.CreateNamespaceRequest;
import io.github.grpcidempotency.example.organization.v1.CreateNodePoolRequest;
import io.github.grpcidempotency.example.organization.v1.InviteMemberRequest;
import io.github.grpcidempotency.example.organization.v1.InviteMemberResponse;
import io.github.grpcidempotency.example.organization.v1.InviteServiceGrpc;
import io.github.grpcidempotency.example.organization.v1.NamespaceServiceGrpc;
import io.grpc.Status;
import java.time.Instant;
import java.util.UUID;
import java.util.function.Supplier;

/** Where keys come from, if not from the header. */
final class KeySources {
  private KeySources() {}

  static void sayWhereTheKeyIs(Stage stage, Story story) {
    String projectId = stage.ada().newProject("skylab");
    String clusterId = requireAKey(stage, story, projectId);
    readTheRequestId(stage, story, clusterId);
    nameTheBuildStep(stage, story, projectId);
  }

  private static String requireAKey(Stage stage, Story story, String projectId) {
    DemoClient ada = stage.ada();
    Answer refused =
        story.call(
            "CreateCluster \"workshop\", without a key", () -> createCluster(ada, projectId));
    story.expect(
        "clusters cost money, so that is refused",
        refused.isRefused(Status.Code.INVALID_ARGUMENT, "IDEMPOTENCY_KEY_REQUIRED"));
    Cluster cluster =
        story
            .call("the same with a key", () -> createCluster(ada.keyed(), projectId))
            .as(CreateClusterResponse.class)
            .getCluster();
    stage.machines().expectOne(story, "leo-1", cluster);
    return cluster.getId();
  }

  private static void readTheRequestId(Stage stage, Story story, String clusterId) {
    CreateNodePoolRequest request =
        CreateNodePoolRequest.newBuilder()
            .setClusterId(clusterId)
            .setName("telescopes")
            .setNodeCount(2)
            .setRequestId(UUID.randomUUID().toString())
            .build();
    Supplier<Answer> create =
        () -> stage.ada().call(ClusterServiceGrpc.getCreateNodePoolMethod(), request);
    story.call("CreateNodePool, twice, with the request_id of AIP-155 and no header", create);
    Answer again = create.get();
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

  private static Answer createNamespace(DemoClient client, String projectId, Instant now) {
    return client.call(
        NamespaceServiceGrpc.getCreateNamespaceMethod(),
        CreateNamespaceRequest.newBuilder()
            .setProjectId(projectId)
            .setName("crew")
            .setClientTime(Timestamp.newBuilder().setSeconds(now.getEpochSecond()))
            .build());
  }

  private static Answer createCluster(DemoClient client, String projectId) {
    return client.call(
        ClusterServiceGrpc.getCreateClusterMethod(),
        CreateClusterRequest.newBuilder()
            .setProjectId(projectId)
            .setName("workshop")
            .setRegion("leo-1")
            .build());
  }

  private static String clusterId(Answer created) {
    return created.as(CreateClusterResponse.class).getCluster().getId();
  }

  static void chooseTheId(Stage stage, Story story) {
    DemoClient ada = stage.ada();
    AddInstallRequest request =
        AddInstallRequest.newBuilder()
            .setClusterId(clusterId(createCluster(ada.keyed(), ada.newProject("ranger"))))
            .setName("guidance")
            .setVersion("1.0")
            .setInstallId(DemoClient.newKey().toString())
            .build();
    Answer created =
        story.call(
            "AddInstall \"guidance\" 1.0 under the id " + request.getInstallId(),
            () -> addInstall(ada, request));
    story.expect("it was installed now", created.isOk() && !created.isReplayed());
    Answer existed =
        story.call(
            "the same, as a controller sends it after a restart", () -> addInstall(ada, request));
    story.expect("it had been there", existed.isReplayed() && existed.isSameAs(created));
    Answer refused =
        story.call(
            "version 2.0 under the same id",
            () -> addInstall(ada, request.toBuilder().setVersion("2.0").build()));
    story.expect(
        "an id stands for one install",
        refused.isRefused(Status.Code.INVALID_ARGUMENT, "IDEMPOTENCY_KEY_REUSED"));
    story.counted(1, stage.rows().in("tenant.installs", ada.user()), "install");
  }

  private static Answer addInstall(DemoClient client, AddInstallRequest request) {
    return client.call(ClusterServiceGrpc.getAddInstallMethod(), request);
  }

  static void inviteWithoutAKey(Stage stage, Story story) {
    DemoClient ada = stage.ada();
    Answer invited =
        story.call("InviteMember buzz@example.org as pilot", () -> invite(ada, "pilot"));
    InviteMemberResponse first = invited.as(InviteMemberResponse.class);
    story.expect("the answer has the link", !first.getAcceptLink().isEmpty());
    Answer again =
        story.call("the same, because somebody has clicked twice", () -> invite(ada, "pilot"));
    InviteMemberResponse second = again.as(InviteMemberResponse.class);
    story.expect(
        "the replay has no link, and says so",
        second.getAcceptLink().isEmpty() && again.omitted().equals("accept_link"));
    story.expect(
        "apart from that it is the same invitation", second.getInvite().equals(first.getInvite()));
    Answer refused =
        story.call("InviteMember buzz@example.org as commander", () -> invite(ada, "commander"));
    story.expect(
        "an address has one open invitation",
        refused.isRefused(Status.Code.INVALID_ARGUMENT, "IDEMPOTENCY_KEY_REUSED"));
    story.counted(1, stage.rows().in("tenant.invites", ada.user()), "invitation");
  }

  private static Answer invite(DemoClient client, String role) {
    return client.call(
        InviteServiceGrpc.getInviteMemberMethod(),
        InviteMemberRequest.newBuilder().setEmail("buzz@example.org").setRole(role).build());
  }
}
