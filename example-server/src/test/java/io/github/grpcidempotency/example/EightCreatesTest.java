package io.github.grpcidempotency.example;

import static io.github.grpcidempotency.example.TestClient.keyed;
import static io.github.grpcidempotency.example.TestClient.user;
import static io.github.grpcidempotency.example.TestClient.with;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.github.f4b6a3.uuid.UuidCreator;
import com.google.protobuf.Message;
import com.google.protobuf.Timestamp;
import io.github.grpcidempotency.example.TestClient.Refused;
import io.github.grpcidempotency.example.TestClient.Reply;
import io.github.grpcidempotency.example.organization.v1.APIKeyServiceGrpc;
import io.github.grpcidempotency.example.organization.v1.AddInstallRequest;
import io.github.grpcidempotency.example.organization.v1.AddProjectMemberRequest;
import io.github.grpcidempotency.example.organization.v1.ClusterServiceGrpc;
import io.github.grpcidempotency.example.organization.v1.CreateAPIKeyRequest;
import io.github.grpcidempotency.example.organization.v1.CreateClusterRequest;
import io.github.grpcidempotency.example.organization.v1.CreateNamespaceRequest;
import io.github.grpcidempotency.example.organization.v1.CreateNodePoolRequest;
import io.github.grpcidempotency.example.organization.v1.CreateProjectRequest;
import io.github.grpcidempotency.example.organization.v1.InviteMemberRequest;
import io.github.grpcidempotency.example.organization.v1.InviteMemberResponse;
import io.github.grpcidempotency.example.organization.v1.InviteServiceGrpc;
import io.github.grpcidempotency.example.organization.v1.NamespaceServiceGrpc;
import io.github.grpcidempotency.example.organization.v1.ProjectServiceGrpc;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.util.UUID;
import org.jdbi.v3.core.Handle;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Each create is sent twice: it happens once, is answered twice, and completes in the end. */
@ExtendWith(SharedExample.class)
class EightCreatesTest {
  private final UUID ada = UUID.randomUUID();
  private final RunningExample example;

  EightCreatesTest(RunningExample example) {
    this.example = example;
  }

  @Test
  void everyCreateIsDoneOnceAndItsRetryGetsTheFirstAnswer() {
    String project =
        createTwice(
                "projects",
                ProjectServiceGrpc.getCreateProjectMethod(),
                CreateProjectRequest.newBuilder().setName("apollo").build())
            .getProject()
            .getId();
    createTwice(
        "project_members",
        ProjectServiceGrpc.getAddProjectMemberMethod(),
        AddProjectMemberRequest.newBuilder()
            .setProjectId(project)
            .setUserId(UUID.randomUUID().toString())
            .setRole("viewer")
            .build());
    String cluster =
        createTwice(
                "clusters",
                ClusterServiceGrpc.getCreateClusterMethod(),
                CreateClusterRequest.newBuilder()
                    .setProjectId(project)
                    .setName("eagle")
                    .setRegion("moon-1")
                    .build())
            .getCluster()
            .getId();
    createTwice(
        "node_pools",
        ClusterServiceGrpc.getCreateNodePoolMethod(),
        CreateNodePoolRequest.newBuilder()
            .setClusterId(cluster)
            .setName("boosters")
            .setNodeCount(3)
            .build());
    createTwice(
        "installs",
        ClusterServiceGrpc.getAddInstallMethod(),
        AddInstallRequest.newBuilder()
            .setInstallId(UUID.randomUUID().toString())
            .setClusterId(cluster)
            .setName("guidance")
            .setVersion("1.0")
            .build());
    createTwice(
        "namespaces",
        NamespaceServiceGrpc.getCreateNamespaceMethod(),
        CreateNamespaceRequest.newBuilder().setProjectId(project).setName("crew").build());
    createTwice(
        "api_keys",
        APIKeyServiceGrpc.getCreateAPIKeyMethod(),
        CreateAPIKeyRequest.newBuilder().setProjectId(project).setName("capcom").build());
    createTwice(
        "invites",
        InviteServiceGrpc.getInviteMemberMethod(),
        InviteMemberRequest.newBuilder().setEmail("buzz@example.org").setRole("pilot").build());
  }

  /** Otherwise, after a crash between the two, every retry would find the chosen id taken. */
  @Test
  void anInstallAndItsAnswerAreOneCommit() {
    String project =
        create(
                ProjectServiceGrpc.getCreateProjectMethod(),
                CreateProjectRequest.newBuilder().setName("gemini").build())
            .getProject()
            .getId();
    String cluster =
        create(
                ClusterServiceGrpc.getCreateClusterMethod(),
                CreateClusterRequest.newBuilder()
                    .setProjectId(project)
                    .setName("agena")
                    .setRegion("moon-1")
                    .build())
            .getCluster()
            .getId();
    create(
        ClusterServiceGrpc.getAddInstallMethod(),
        AddInstallRequest.newBuilder()
            .setInstallId(UUID.randomUUID().toString())
            .setClusterId(cluster)
            .setName("docking")
            .setVersion("1.0")
            .build());

    try (Handle superuser = example.superuser()) {
      assertThat(
              superuser
                  .createQuery(
                      "SELECT k.xmin = i.xmin FROM tenant.installs AS i"
                          + " JOIN idempotency.idempotency_keys AS k ON k.install_id = i.id"
                          + " WHERE i.user_id = :user")
                  .bind("user", ada)
                  .mapTo(Boolean.class)
                  .one())
          .isTrue();
    }
  }

  @Test
  void aKeyComesFromTheRequestIdOrFromTheStepOfAPipeline() {
    String project =
        create(
                ProjectServiceGrpc.getCreateProjectMethod(),
                CreateProjectRequest.newBuilder().setName("skylab").build())
            .getProject()
            .getId();
    CreateClusterRequest cluster =
        CreateClusterRequest.newBuilder()
            .setProjectId(project)
            .setName("workshop")
            .setRegion("leo-1")
            .build();
    assertThat(
            example
                .client()
                .refused(user(ada), ClusterServiceGrpc.getCreateClusterMethod(), cluster))
        .isEqualTo(new Refused(Status.Code.INVALID_ARGUMENT, "IDEMPOTENCY_KEY_REQUIRED"));

    CreateNodePoolRequest pool =
        CreateNodePoolRequest.newBuilder()
            .setClusterId(
                create(ClusterServiceGrpc.getCreateClusterMethod(), cluster).getCluster().getId())
            .setName("telescopes")
            .setNodeCount(2)
            .setRequestId(UUID.randomUUID().toString())
            .build();
    assertReplayed(user(ada), ClusterServiceGrpc.getCreateNodePoolMethod(), pool, pool);

    CreateNamespaceRequest first =
        CreateNamespaceRequest.newBuilder()
            .setProjectId(project)
            .setName("crew")
            .setClientTime(Timestamp.newBuilder().setSeconds(1_763_700_000))
            .build();
    CreateNamespaceRequest later =
        first.toBuilder().setClientTime(Timestamp.newBuilder().setSeconds(1_763_700_300)).build();
    Metadata step = with("ci-step", "deploy-4711.3", user(ada));
    assertReplayed(step, NamespaceServiceGrpc.getCreateNamespaceMethod(), first, later);
  }

  private <RequestT extends Message, ResponseT extends Message> void assertReplayed(
      Metadata headers,
      MethodDescriptor<RequestT, ResponseT> method,
      RequestT request,
      RequestT retry) {
    assertThat(example.client().call(headers, method, request).isReplayed()).isFalse();
    assertThat(example.client().call(headers, method, retry).isReplayed()).isTrue();
  }

  private <RequestT extends Message, ResponseT extends Message> ResponseT create(
      MethodDescriptor<RequestT, ResponseT> method, RequestT request) {
    return example
        .client()
        .call(keyed(UuidCreator.getTimeOrderedEpoch(), user(ada)), method, request)
        .response();
  }

  private <RequestT extends Message, ResponseT extends Message> ResponseT createTwice(
      String table, MethodDescriptor<RequestT, ResponseT> method, RequestT request) {
    Metadata keyed = keyed(UuidCreator.getTimeOrderedEpoch(), user(ada));
    Reply<ResponseT> first = example.client().call(keyed, method, request);
    assertThat(first.isReplayed()).as(table).isFalse();
    assertThat(first.status()).as(table).isEqualTo("processing");
    Reply<ResponseT> second = example.client().call(keyed, method, request);
    assertThat(second.isReplayed()).as(table).isTrue();
    assertThat(second.response()).isEqualTo(recorded(first.response()));
    assertThat(rows(table)).as(table).isEqualTo(1);
    await(table)
        .until(() -> example.client().call(keyed, method, request).status().equals("completed"));
    return first.response();
  }

  private int rows(String table) {
    try (Handle superuser = example.superuser()) {
      return superuser
          .createQuery("SELECT count(*) FROM tenant.<table> WHERE user_id = :user")
          .define("table", table)
          .bind("user", ada)
          .mapTo(Integer.class)
          .one();
    }
  }

  /** An answer as it is recorded: without an invitation's link, which is sent only once. */
  private static Message recorded(Message response) {
    return response instanceof InviteMemberResponse invited
        ? invited.toBuilder().clearAcceptLink().build()
        : response;
  }
}
