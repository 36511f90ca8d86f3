package io.github.grpcidempotency.example;

import static io.github.grpcidempotency.example.TestClient.user;
import static io.github.grpcidempotency.example.TestClient.with;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.github.f4b6a3.uuid.UuidCreator;
import com.google.protobuf.Message;
import io.github.grpcidempotency.example.TestClient.Reply;
import io.github.grpcidempotency.example.organization.v1.APIKey;
import io.github.grpcidempotency.example.organization.v1.APIKeyServiceGrpc;
import io.github.grpcidempotency.example.organization.v1.AddInstallRequest;
import io.github.grpcidempotency.example.organization.v1.AddProjectMemberRequest;
import io.github.grpcidempotency.example.organization.v1.Cluster;
import io.github.grpcidempotency.example.organization.v1.ClusterServiceGrpc;
import io.github.grpcidempotency.example.organization.v1.CreateAPIKeyRequest;
import io.github.grpcidempotency.example.organization.v1.CreateClusterRequest;
import io.github.grpcidempotency.example.organization.v1.CreateNamespaceRequest;
import io.github.grpcidempotency.example.organization.v1.CreateNodePoolRequest;
import io.github.grpcidempotency.example.organization.v1.CreateProjectRequest;
import io.github.grpcidempotency.example.organization.v1.GetClusterRequest;
import io.github.grpcidempotency.example.organization.v1.GetProjectRequest;
import io.github.grpcidempotency.example.organization.v1.Install;
import io.github.grpcidempotency.example.organization.v1.Invite;
import io.github.grpcidempotency.example.organization.v1.InviteMemberRequest;
import io.github.grpcidempotency.example.organization.v1.InviteMemberResponse;
import io.github.grpcidempotency.example.organization.v1.InviteServiceGrpc;
import io.github.grpcidempotency.example.organization.v1.ListAPIKeysRequest;
import io.github.grpcidempotency.example.organization.v1.ListClustersRequest;
import io.github.grpcidempotency.example.organization.v1.ListInstallsRequest;
import io.github.grpcidempotency.example.organization.v1.ListInvitesRequest;
import io.github.grpcidempotency.example.organization.v1.ListNamespacesRequest;
import io.github.grpcidempotency.example.organization.v1.ListNodePoolsRequest;
import io.github.grpcidempotency.example.organization.v1.ListProjectMembersRequest;
import io.github.grpcidempotency.example.organization.v1.ListProjectsRequest;
import io.github.grpcidempotency.example.organization.v1.Namespace;
import io.github.grpcidempotency.example.organization.v1.NamespaceServiceGrpc;
import io.github.grpcidempotency.example.organization.v1.NodePool;
import io.github.grpcidempotency.example.organization.v1.Project;
import io.github.grpcidempotency.example.organization.v1.ProjectMember;
import io.github.grpcidempotency.example.organization.v1.ProjectServiceGrpc;
import io.github.grpcidempotency.procedure.ResourceType;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import java.util.UUID;
import org.jdbi.v3.core.Handle;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Each create is sent twice: it happens once, is answered twice, and completes in the end. */
@ExtendWith(SharedExample.class)
class EightCreatesTest {
  private static RunningExample example;

  private final UUID ada = UUID.randomUUID();

  @BeforeAll
  static void share(RunningExample shared) {
    example = shared;
  }

  @Test
  void createProject() {
    Project project = project();
    assertThat(
            call(
                    ProjectServiceGrpc.getListProjectsMethod(),
                    ListProjectsRequest.getDefaultInstance())
                .getProjectsList())
        .containsExactly(project);
    assertThat(
            call(
                    ProjectServiceGrpc.getGetProjectMethod(),
                    GetProjectRequest.newBuilder().setId(project.getId()).build())
                .getProject())
        .isEqualTo(project);
  }

  @Test
  void addProjectMember() {
    String projectId = project().getId();
    ProjectMember member =
        createTwice(
                "project_member",
                ProjectServiceGrpc.getAddProjectMemberMethod(),
                AddProjectMemberRequest.newBuilder()
                    .setProjectId(projectId)
                    .setUserId(UUID.randomUUID().toString())
                    .setRole("viewer")
                    .build())
            .getMember();
    assertThat(
            call(
                    ProjectServiceGrpc.getListProjectMembersMethod(),
                    ListProjectMembersRequest.newBuilder().setProjectId(projectId).build())
                .getMembersList())
        .containsExactly(member);
  }

  @Test
  void createCluster() {
    Cluster cluster = cluster();
    assertThat(
            call(
                    ClusterServiceGrpc.getListClustersMethod(),
                    ListClustersRequest.newBuilder().setProjectId(cluster.getProjectId()).build())
                .getClustersList())
        .containsExactly(cluster);
    assertThat(
            call(
                    ClusterServiceGrpc.getGetClusterMethod(),
                    GetClusterRequest.newBuilder().setId(cluster.getId()).build())
                .getCluster())
        .isEqualTo(cluster);
  }

  @Test
  void createNodePool() {
    String clusterId = cluster().getId();
    NodePool nodePool =
        createTwice(
                "node_pool",
                ClusterServiceGrpc.getCreateNodePoolMethod(),
                CreateNodePoolRequest.newBuilder()
                    .setClusterId(clusterId)
                    .setName("boosters")
                    .setNodeCount(3)
                    .build())
            .getNodePool();
    assertThat(
            call(
                    ClusterServiceGrpc.getListNodePoolsMethod(),
                    ListNodePoolsRequest.newBuilder().setClusterId(clusterId).build())
                .getNodePoolsList())
        .containsExactly(nodePool);
  }

  @Test
  void addInstall() {
    String clusterId = cluster().getId();
    Install install =
        createTwice(
                "install",
                ClusterServiceGrpc.getAddInstallMethod(),
                AddInstallRequest.newBuilder()
                    .setInstallId(UUID.randomUUID().toString())
                    .setClusterId(clusterId)
                    .setName("guidance")
                    .setVersion("1.0")
                    .build())
            .getInstall();
    assertThat(
            call(
                    ClusterServiceGrpc.getListInstallsMethod(),
                    ListInstallsRequest.newBuilder().setClusterId(clusterId).build())
                .getInstallsList())
        .containsExactly(install);
  }

  @Test
  void createNamespace() {
    String projectId = project().getId();
    Namespace namespace =
        createTwice(
                "namespace",
                NamespaceServiceGrpc.getCreateNamespaceMethod(),
                CreateNamespaceRequest.newBuilder().setProjectId(projectId).setName("crew").build())
            .getNamespace();
    assertThat(
            call(
                    NamespaceServiceGrpc.getListNamespacesMethod(),
                    ListNamespacesRequest.newBuilder().setProjectId(projectId).build())
                .getNamespacesList())
        .containsExactly(namespace);
  }

  @Test
  void createApiKey() {
    String projectId = project().getId();
    APIKey apiKey =
        createTwice(
                "api_key",
                APIKeyServiceGrpc.getCreateAPIKeyMethod(),
                CreateAPIKeyRequest.newBuilder().setProjectId(projectId).setName("capcom").build())
            .getApiKey();
    assertThat(
            call(
                    APIKeyServiceGrpc.getListAPIKeysMethod(),
                    ListAPIKeysRequest.newBuilder().setProjectId(projectId).build())
                .getApiKeysList())
        .containsExactly(apiKey);
  }

  @Test
  void inviteMember() {
    Invite invite =
        createTwice(
                "invite",
                InviteServiceGrpc.getInviteMemberMethod(),
                InviteMemberRequest.newBuilder()
                    .setEmail("buzz@example.org")
                    .setRole("pilot")
                    .build())
            .getInvite();
    assertThat(
            call(InviteServiceGrpc.getListInvitesMethod(), ListInvitesRequest.getDefaultInstance())
                .getInvitesList())
        .containsExactly(invite);
  }

  private Project project() {
    return createTwice(
            "project",
            ProjectServiceGrpc.getCreateProjectMethod(),
            CreateProjectRequest.newBuilder().setName("apollo").build())
        .getProject();
  }

  private Cluster cluster() {
    return createTwice(
            "cluster",
            ClusterServiceGrpc.getCreateClusterMethod(),
            CreateClusterRequest.newBuilder()
                .setProjectId(project().getId())
                .setName("eagle")
                .setRegion("moon-1")
                .build())
        .getCluster();
  }

  private <RequestT extends Message, ResponseT extends Message> ResponseT createTwice(
      String resourceType, MethodDescriptor<RequestT, ResponseT> method, RequestT request) {
    String key = UuidCreator.getTimeOrderedEpoch().toString();
    Metadata keyed = with("idempotency-key", key, user(ada));

    Reply<ResponseT> first = example.client().call(keyed, method, request);
    assertThat(first.isReplayed()).isFalse();
    assertThat(first.status()).isEqualTo("processing");

    Reply<ResponseT> second = example.client().call(keyed, method, request);
    assertThat(second.isReplayed()).isTrue();
    assertThat(second.response()).isEqualTo(recorded(first.response()));
    assertThat(recordRefersTo(ResourceType.of(resourceType), second.operation())).isTrue();

    await().until(() -> example.client().call(keyed, method, request).status().equals("completed"));
    return first.response();
  }

  private <RequestT extends Message, ResponseT extends Message> ResponseT call(
      MethodDescriptor<RequestT, ResponseT> method, RequestT request) {
    return example.client().call(user(ada), method, request).response();
  }

  /** An answer as it is recorded: without an invitation's link, which is sent only once. */
  private static Message recorded(Message response) {
    return response instanceof InviteMemberResponse invited
        ? invited.toBuilder().clearAcceptLink().build()
        : response;
  }

  private static boolean recordRefersTo(ResourceType type, String operation) {
    try (Handle superuser = example.superuser()) {
      return superuser
          .createQuery(
              "SELECT <column> IS NOT NULL FROM idempotency.idempotency_keys WHERE id = CAST(:id AS uuid)")
          .define("column", type.column())
          .bind("id", operation)
          .mapTo(Boolean.class)
          .one();
    }
  }
}
