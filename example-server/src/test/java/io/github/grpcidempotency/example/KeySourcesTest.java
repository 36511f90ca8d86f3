package io.github.grpcidempotency.example;

import static io.github.grpcidempotency.example.TestClient.keyed;
import static io.github.grpcidempotency.example.TestClient.user;
import static io.github.grpcidempotency.example.TestClient.with;
import static io.github.grpcidempotency.example.organization.v1.ClusterServiceGrpc.getAddInstallMethod;
import static io.github.grpcidempotency.example.organization.v1.ClusterServiceGrpc.getCreateClusterMethod;
import static io.github.grpcidempotency.example.organization.v1.ClusterServiceGrpc.getCreateNodePoolMethod;
import static io.github.grpcidempotency.example.organization.v1.ClusterServiceGrpc.getListInstallsMethod;
import static io.github.grpcidempotency.example.organization.v1.InviteServiceGrpc.getInviteMemberMethod;
import static io.github.grpcidempotency.example.organization.v1.NamespaceServiceGrpc.getCreateNamespaceMethod;
import static org.assertj.core.api.Assertions.assertThat;

import com.github.f4b6a3.uuid.UuidCreator;
import com.google.protobuf.Timestamp;
import io.github.grpcidempotency.example.TestClient.Refused;
import io.github.grpcidempotency.example.TestClient.Reply;
import io.github.grpcidempotency.example.organization.v1.AddInstallRequest;
import io.github.grpcidempotency.example.organization.v1.AddInstallResponse;
import io.github.grpcidempotency.example.organization.v1.CreateClusterRequest;
import io.github.grpcidempotency.example.organization.v1.CreateClusterResponse;
import io.github.grpcidempotency.example.organization.v1.CreateNamespaceRequest;
import io.github.grpcidempotency.example.organization.v1.CreateNodePoolRequest;
import io.github.grpcidempotency.example.organization.v1.CreateNodePoolResponse;
import io.github.grpcidempotency.example.organization.v1.Install;
import io.github.grpcidempotency.example.organization.v1.InviteMemberRequest;
import io.github.grpcidempotency.example.organization.v1.InviteMemberResponse;
import io.github.grpcidempotency.example.organization.v1.ListInstallsRequest;
import io.grpc.Metadata;
import io.grpc.Status;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.jdbi.v3.core.Handle;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Where each method of the example takes its key from, and how long the key is kept. */
@ExtendWith(SharedExample.class)
class KeySourcesTest {
  private static final Refused REQUIRED =
      new Refused(Status.Code.INVALID_ARGUMENT, "IDEMPOTENCY_KEY_REQUIRED");
  private static final Refused INVALID =
      new Refused(Status.Code.INVALID_ARGUMENT, "IDEMPOTENCY_KEY_INVALID");
  private static final Refused REUSED =
      new Refused(Status.Code.INVALID_ARGUMENT, "IDEMPOTENCY_KEY_REUSED");

  private static RunningExample example;

  private final Metadata ada = user(UUID.randomUUID());

  @BeforeAll
  static void share(RunningExample shared) {
    example = shared;
  }

  @Test
  void aClusterNeedsAKeyAndIsAnsweredForAMonth() {
    CreateClusterRequest request = clusterRequest(ada);
    assertThat(example.client().refused(ada, getCreateClusterMethod(), request))
        .isEqualTo(REQUIRED);
    Reply<CreateClusterResponse> created =
        example
            .client()
            .call(keyed(UuidCreator.getTimeOrderedEpoch(), ada), getCreateClusterMethod(), request);
    assertThat(Duration.between(Instant.now(), created.expires()))
        .isCloseTo(Duration.ofDays(30), Duration.ofHours(1));
  }

  @Test
  void aNodePoolTakesARequestIdInsteadOfAHeader() {
    CreateNodePoolRequest unnamed =
        CreateNodePoolRequest.newBuilder()
            .setClusterId(cluster(ada))
            .setName("boosters")
            .setNodeCount(3)
            .build();
    CreateNodePoolRequest named =
        unnamed.toBuilder().setRequestId(UUID.randomUUID().toString()).build();

    Reply<CreateNodePoolResponse> first = createNodePool(ada, named);
    Reply<CreateNodePoolResponse> second = createNodePool(ada, named);
    assertThat(first.isReplayed()).isFalse();
    assertThat(second.isReplayed()).isTrue();
    assertThat(second.response()).isEqualTo(first.response());

    Metadata keyed = keyed(UuidCreator.getTimeOrderedEpoch(), ada);
    assertThat(createNodePool(keyed, unnamed).isReplayed()).isFalse();
    assertThat(createNodePool(keyed, unnamed).isReplayed()).isTrue();

    assertThat(createNodePool(ada, unnamed).isReplayed()).isFalse();
    assertThat(createNodePool(ada, unnamed).isReplayed()).isFalse();
    assertThat(
            example
                .client()
                .refused(
                    ada,
                    getCreateNodePoolMethod(),
                    unnamed.toBuilder()
                        .setRequestId(UuidCreator.getTimeOrderedEpoch().toString())
                        .build()))
        .as("a request_id that is not random")
        .isEqualTo(INVALID);
  }

  @Test
  void anInstallIsNamedByItsCaller() {
    UUID id = UUID.randomUUID();
    AddInstallRequest request =
        AddInstallRequest.newBuilder()
            .setClusterId(cluster(ada))
            .setName("guidance")
            .setVersion("1.0")
            .setInstallId(id.toString())
            .build();

    Reply<AddInstallResponse> created = addInstall(request);
    assertThat(created.isReplayed()).isFalse();
    assertThat(created.response().getInstall().getId()).isEqualTo(id.toString());
    Reply<AddInstallResponse> existed = addInstall(request);
    assertThat(existed.isReplayed()).isTrue();
    assertThat(existed.response()).isEqualTo(created.response());

    assertThat(
            example
                .client()
                .refused(ada, getAddInstallMethod(), request.toBuilder().setVersion("2.0").build()))
        .isEqualTo(REUSED);
    assertThat(
            example
                .client()
                .refused(ada, getAddInstallMethod(), request.toBuilder().clearInstallId().build()))
        .isEqualTo(REQUIRED);
    assertThat(
            example
                .client()
                .refused(
                    ada, getAddInstallMethod(), request.toBuilder().setInstallId("one").build()))
        .isEqualTo(INVALID);
  }

  @Test
  void anIdThatSomebodyElseHasMintedIsAsFreeAsAnyOther() {
    AddInstallRequest adas =
        AddInstallRequest.newBuilder()
            .setClusterId(cluster(ada))
            .setName("guidance")
            .setVersion("1.0")
            .setInstallId(UUID.randomUUID().toString())
            .build();
    addInstall(adas);

    for (Metadata other : List.of(user(UUID.randomUUID()), with("organization", "nasa", ada))) {
      AddInstallRequest others = adas.toBuilder().setClusterId(cluster(other)).build();
      Reply<AddInstallResponse> created =
          example.client().call(other, getAddInstallMethod(), others);
      assertThat(created.isReplayed()).isFalse();
      assertThat(created.response().getInstall().getId()).isEqualTo(adas.getInstallId());
      assertThat(installs(other, others)).containsExactly(created.response().getInstall());
    }
    assertThat(installs(ada, adas)).hasSize(1);
  }

  @Test
  void anInstallIsThereOnceEvenWhenItsRecordIsNot() {
    AddInstallRequest request =
        AddInstallRequest.newBuilder()
            .setClusterId(cluster(ada))
            .setName("guidance")
            .setVersion("1.0")
            .setInstallId(UUID.randomUUID().toString())
            .build();
    String operation = addInstall(request).operation();
    try (Handle superuser = example.superuser()) {
      superuser.execute(
          "DELETE FROM idempotency.idempotency_keys WHERE id = CAST(? AS uuid)", operation);
    }
    assertThat(example.client().refused(ada, getAddInstallMethod(), request).code())
        .isEqualTo(Status.Code.ALREADY_EXISTS);
  }

  @Test
  void anInstallThatIsAskedForAgainIsAnsweredForAnotherDay() {
    AddInstallRequest request =
        AddInstallRequest.newBuilder()
            .setClusterId(cluster(ada))
            .setName("guidance")
            .setVersion("1.0")
            .setInstallId(UUID.randomUUID().toString())
            .build();
    String operation = addInstall(request).operation();
    try (Handle superuser = example.superuser()) {
      superuser.execute(
          "UPDATE idempotency.idempotency_keys SET expires = now() + interval '1 minute' WHERE id = CAST(? AS uuid)",
          operation);
    }
    Reply<AddInstallResponse> existed = addInstall(request);
    assertThat(existed.isReplayed()).isTrue();
    assertThat(Duration.between(Instant.now(), existed.expires()))
        .isCloseTo(Duration.ofDays(1), Duration.ofHours(1));
  }

  @Test
  void aBuildStepNamesItselfAndItsClockIsNoPartOfTheRequest() {
    CreateNamespaceRequest request =
        CreateNamespaceRequest.newBuilder()
            .setProjectId(ApiKeys.newProject(example.client(), ada))
            .setName("crew")
            .setClientTime(seconds(1_763_700_000))
            .build();
    Metadata step = with("ci-step", "deploy-4711.3", ada);
    example.client().call(step, getCreateNamespaceMethod(), request);

    CreateNamespaceRequest later =
        request.toBuilder().setClientTime(seconds(1_763_700_300)).build();
    assertThat(example.client().call(step, getCreateNamespaceMethod(), later).isReplayed())
        .isTrue();
    assertThat(
            example
                .client()
                .refused(
                    step, getCreateNamespaceMethod(), later.toBuilder().setName("cargo").build()))
        .isEqualTo(REUSED);
    assertThat(
            example
                .client()
                .call(
                    with("ci-step", "deploy-4711.4", ada),
                    getCreateNamespaceMethod(),
                    later.toBuilder().setName("cargo").build())
                .isReplayed())
        .isFalse();
  }

  @Test
  void anInvitationIsIdentifiedByItsAddressAndItsLinkIsSentOnce() {
    Reply<InviteMemberResponse> first = invite(ada, "buzz@example.org", "pilot");
    assertThat(first.response().getAcceptLink()).startsWith("https://example.org/invites/");

    Reply<InviteMemberResponse> again = invite(ada, "buzz@example.org", "pilot");
    assertThat(again.isReplayed()).isTrue();
    assertThat(again.omitted()).isEqualTo("accept_link");
    assertThat(again.response().getAcceptLink()).isEmpty();
    assertThat(again.response().getInvite()).isEqualTo(first.response().getInvite());

    assertThat(
            example
                .client()
                .refused(ada, getInviteMemberMethod(), invitation("buzz@example.org", "commander")))
        .isEqualTo(REUSED);
    assertThat(invite(ada, "neil@example.org", "pilot").isReplayed()).isFalse();
    assertThat(invite(with("organization", "nasa", ada), "buzz@example.org", "pilot").isReplayed())
        .as("in another organization")
        .isFalse();
    assertThat(invite(user(UUID.randomUUID()), "buzz@example.org", "pilot").isReplayed())
        .as("by somebody else")
        .isFalse();
  }

  private static Timestamp seconds(long seconds) {
    return Timestamp.newBuilder().setSeconds(seconds).build();
  }

  private static Reply<InviteMemberResponse> invite(Metadata caller, String email, String role) {
    return example.client().call(caller, getInviteMemberMethod(), invitation(email, role));
  }

  private static InviteMemberRequest invitation(String email, String role) {
    return InviteMemberRequest.newBuilder().setEmail(email).setRole(role).build();
  }

  private Reply<AddInstallResponse> addInstall(AddInstallRequest request) {
    return example.client().call(ada, getAddInstallMethod(), request);
  }

  private static Reply<CreateNodePoolResponse> createNodePool(
      Metadata caller, CreateNodePoolRequest request) {
    return example.client().call(caller, getCreateNodePoolMethod(), request);
  }

  private static List<Install> installs(Metadata caller, AddInstallRequest request) {
    return example
        .client()
        .call(
            caller,
            getListInstallsMethod(),
            ListInstallsRequest.newBuilder().setClusterId(request.getClusterId()).build())
        .response()
        .getInstallsList();
  }

  private static CreateClusterRequest clusterRequest(Metadata caller) {
    return CreateClusterRequest.newBuilder()
        .setProjectId(ApiKeys.newProject(example.client(), caller))
        .setName("eagle")
        .setRegion("moon-1")
        .build();
  }

  private static String cluster(Metadata caller) {
    return example
        .client()
        .call(
            keyed(UuidCreator.getTimeOrderedEpoch(), caller),
            getCreateClusterMethod(),
            clusterRequest(caller))
        .response()
        .getCluster()
        .getId();
  }
}
