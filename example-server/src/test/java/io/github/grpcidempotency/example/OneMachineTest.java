package io.github.grpcidempotency.example;

import static io.github.grpcidempotency.example.TestClient.keyed;
import static io.github.grpcidempotency.example.TestClient.user;
import static io.github.grpcidempotency.example.organization.v1.ClusterServiceGrpc.getCreateClusterMethod;
import static io.github.grpcidempotency.example.organization.v1.ClusterServiceGrpc.getListClustersMethod;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import com.github.f4b6a3.uuid.UuidCreator;
import com.google.rpc.ErrorInfo;
import io.github.grpcidempotency.example.TestClient.Refused;
import io.github.grpcidempotency.example.TestClient.Reply;
import io.github.grpcidempotency.example.cloud.v1.Machine;
import io.github.grpcidempotency.example.organization.v1.Cluster;
import io.github.grpcidempotency.example.organization.v1.CreateClusterRequest;
import io.github.grpcidempotency.example.organization.v1.CreateClusterResponse;
import io.github.grpcidempotency.example.organization.v1.ListClustersRequest;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** However often the handler of CreateCluster runs for one key, the provider sells one machine. */
@ExtendWith(SharedExample.class)
class OneMachineTest {
  private static final String LEASE = "2s";

  private static RunningExample example;

  private final Metadata ada = user(UUID.randomUUID());
  private final Metadata keyed = keyed(UuidCreator.getTimeOrderedEpoch(), ada);

  @BeforeAll
  static void share(RunningExample shared) {
    example = shared;
  }

  @Test
  void aServerThatIsKilledAfterTheSaleAndBeforeItsRecordHasBoughtTheMachineOfTheRetry() {
    CreateClusterRequest request = requestIn("lost-");
    try (ProgramProcess doomed = serverOnTheSameDatabase();
        TestClient client = new TestClient(doomed.awaitPort())) {
      CompletableFuture<?> lost =
          CompletableFuture.supplyAsync(
              () -> client.call(keyed, getCreateClusterMethod(), request));
      await().until(() -> !sold(request).isEmpty());
      doomed.kill();
      assertThat(lost).failsWithin(Duration.ofSeconds(20));
    }
    assertThat(clusters(request)).isEmpty();

    Cluster created = create(request).getCluster();

    assertThat(sold(request)).extracting(Machine::getId).containsExactly(created.getMachine());
    assertThat(clusters(request)).containsExactly(created);
  }

  @Test
  void aCallThatFailsAfterTheSaleGetsTheMachineThatWasBoughtWhenItIsRetried() {
    CreateClusterRequest request = requestIn("flaky-");
    StatusRuntimeException failure =
        catchThrowableOfType(StatusRuntimeException.class, () -> create(request));
    assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
    assertThat(TestClient.detail(failure, ErrorInfo.class))
        .map(ErrorInfo::getReason)
        .hasValue("PROVIDER_UNAVAILABLE");
    assertThat(sold(request)).hasSize(1);

    Cluster created = create(request).getCluster();

    assertThat(sold(request)).extracting(Machine::getId).containsExactly(created.getMachine());
    assertThat(clusters(request)).containsExactly(created);
  }

  @Test
  void aKeyThatHasBoughtAMachineAndWasReleasedBuysNoneInAnotherRegion() {
    CreateClusterRequest request = requestIn("flaky-");
    assertThat(refused(request).code()).isEqualTo(Status.Code.UNAVAILABLE);

    CreateClusterRequest elsewhere = request.toBuilder().setRegion("moon-2").build();
    assertThat(refused(elsewhere)).isEqualTo(new Refused(Status.Code.INVALID_ARGUMENT, ""));

    assertThat(create(request).getCluster().getMachine()).isEqualTo(sold(request).get(0).getId());
  }

  @Test
  void nothingIsBoughtForAProjectThatDoesNotExist() {
    CreateClusterRequest request =
        requestIn("moon-").toBuilder().setProjectId(UUID.randomUUID().toString()).build();
    assertThat(refused(request).code()).isEqualTo(Status.Code.NOT_FOUND);
    assertThat(sold(request)).isEmpty();
  }

  private static ProgramProcess serverOnTheSameDatabase() {
    return ProgramProcess.start(
        "serve",
        "--port",
        "0",
        "--jdbc-url",
        example.database().jdbcUrl().replace("user=postgres", "user=example_app"),
        "--no-migrate",
        "--keyset",
        example.database().directory().resolve("keyset.json").toString(),
        "--lease",
        LEASE,
        "--provider",
        TestProvider.target());
  }

  /** Asks for a cluster in a separate region. */
  private CreateClusterRequest requestIn(String region) {
    return CreateClusterRequest.newBuilder()
        .setProjectId(ApiKeys.newProject(example.client(), ada))
        .setName("eagle")
        .setRegion(region + UUID.randomUUID())
        .build();
  }

  private CreateClusterResponse create(CreateClusterRequest request) {
    Reply<CreateClusterResponse> created =
        example.client().call(keyed, getCreateClusterMethod(), request);
    assertThat(created.isReplayed()).isFalse();
    return created.response();
  }

  private Refused refused(CreateClusterRequest request) {
    return example.client().refused(keyed, getCreateClusterMethod(), request);
  }

  private static List<Machine> sold(CreateClusterRequest request) {
    return TestProvider.machinesIn(request.getRegion());
  }

  private List<Cluster> clusters(CreateClusterRequest request) {
    ListClustersRequest ofProject =
        ListClustersRequest.newBuilder().setProjectId(request.getProjectId()).build();
    return example
        .client()
        .call(ada, getListClustersMethod(), ofProject)
        .response()
        .getClustersList();
  }
}
