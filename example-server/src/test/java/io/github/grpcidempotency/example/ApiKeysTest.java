package io.github.grpcidempotency.example;

import static io.github.grpcidempotency.example.TestClient.user;
import static org.assertj.core.api.Assertions.assertThat;

import com.github.f4b6a3.uuid.UuidCreator;
import io.github.grpcidempotency.example.TestClient.Refused;
import io.github.grpcidempotency.example.organization.v1.APIKey;
import io.github.grpcidempotency.example.organization.v1.APIKeyServiceGrpc;
import io.github.grpcidempotency.example.organization.v1.RevokeAPIKeyRequest;
import io.grpc.Metadata;
import io.grpc.Status;
import java.util.UUID;
import org.jdbi.v3.core.Handle;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What happens to API keys after their creation. */
@ExtendWith(SharedExample.class)
class ApiKeysTest {
  private final RunningExample example;
  private final ApiKeys apiKeys;
  private final UUID key = UuidCreator.getTimeOrderedEpoch();
  private String id = "";

  ApiKeysTest(RunningExample example) {
    this.example = example;
    this.apiKeys = ApiKeys.inNewProject(example.client(), user(UUID.randomUUID()));
  }

  @BeforeEach
  void create() {
    id = apiKeys.create("capcom", key).response().getApiKey().getId();
  }

  @Test
  void theTokenOfADeletedKeyIsNotReplayed() {
    try (Handle superuser = example.superuser()) {
      superuser.execute("DELETE FROM tenant.api_keys WHERE id = CAST(? AS uuid)", id);
    }
    assertThat(apiKeys.refusedCreate("capcom", key))
        .isEqualTo(new Refused(Status.Code.PERMISSION_DENIED, "IDEMPOTENCY_REPLAY_DENIED"));
  }

  @Test
  void revokingTwiceIsRevokingOnceAndTheTokenIsNotReplayed() {
    APIKey revoked = apiKeys.revoke(id).getApiKey();
    assertThat(revoked.hasRevokeTime()).isTrue();
    assertThat(apiKeys.revoke(id).getApiKey()).isEqualTo(revoked);
    assertThat(apiKeys.refusedCreate("capcom", key))
        .isEqualTo(new Refused(Status.Code.PERMISSION_DENIED, "IDEMPOTENCY_REPLAY_DENIED"));
  }

  @Test
  void aUserCannotRevokeTheKeyOfAnotherUser() {
    Metadata grace = user(UUID.randomUUID());
    RevokeAPIKeyRequest request = RevokeAPIKeyRequest.newBuilder().setId(id).build();
    assertThat(
            example
                .client()
                .refused(grace, APIKeyServiceGrpc.getRevokeAPIKeyMethod(), request)
                .code())
        .isEqualTo(Status.Code.NOT_FOUND);
  }
}
