package io.github.grpcidempotency.example;

import static io.github.grpcidempotency.example.TestClient.keyed;
import static io.github.grpcidempotency.example.TestClient.user;
import static io.github.grpcidempotency.example.organization.v1.ClusterServiceGrpc.getCreateClusterMethod;
import static org.assertj.core.api.Assertions.assertThat;

import com.github.f4b6a3.uuid.UuidCreator;
import io.github.grpcidempotency.example.TestClient.Refused;
import io.github.grpcidempotency.example.organization.v1.CreateClusterRequest;
import io.grpc.Metadata;
import io.grpc.Status;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** However often the handler of CreateCluster runs for one key, the provider sells one machine. */
@ExtendWith(SharedExample.class)
class OneMachineTest {
  private final RunningExample example;
  private final Metadata ada = user(UUID.randomUUID());
  private final Metadata keyed = keyed(UuidCreator.getTimeOrderedEpoch(), ada);

  OneMachineTest(RunningExample example) {
    this.example = example;
  }

  @Test
  void aKeyThatHasBoughtAMachineAndWasReleasedBuysNoneInAnotherRegion() {
    CreateClusterRequest request = requestIn("flaky-");
    assertThat(refused(request))
        .isEqualTo(new Refused(Status.Code.UNAVAILABLE, "PROVIDER_UNAVAILABLE"));

    CreateClusterRequest elsewhere = request.toBuilder().setRegion("moon-2").build();
    assertThat(refused(elsewhere)).isEqualTo(new Refused(Status.Code.INVALID_ARGUMENT, ""));
    assertThat(
            example
                .client()
                .call(keyed, getCreateClusterMethod(), request)
                .response()
                .getCluster()
                .getMachine())
        .isEqualTo(example.shop().soldIn(request.getRegion()).get(0));
    assertThat(example.shop().soldIn(request.getRegion())).hasSize(1);
  }

  @Test
  void nothingIsBoughtForAProjectThatDoesNotExist() {
    CreateClusterRequest request =
        requestIn("moon-").toBuilder().setProjectId(UUID.randomUUID().toString()).build();
    assertThat(refused(request).code()).isEqualTo(Status.Code.NOT_FOUND);
    assertThat(example.shop().soldIn(request.getRegion())).isEmpty();
  }

  private CreateClusterRequest requestIn(String region) {
    return CreateClusterRequest.newBuilder()
        .setProjectId(ApiKeys.newProject(example.client(), ada))
        .setName("eagle")
        .setRegion(region + UUID.randomUUID())
        .build();
  }

  private Refused refused(CreateClusterRequest request) {
    return example.client().refused(keyed, getCreateClusterMethod(), request);
  }
}
