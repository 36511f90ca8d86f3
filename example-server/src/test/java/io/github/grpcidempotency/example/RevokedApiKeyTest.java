package io.github.grpcidempotency.example;

import static io.github.grpcidempotency.example.TestClient.keyed;
import static io.github.grpcidempotency.example.TestClient.user;
import static org.assertj.core.api.Assertions.assertThat;

import com.github.f4b6a3.uuid.UuidCreator;
import io.github.grpcidempotency.example.TestClient.Refused;
import io.github.grpcidempotency.example.organization.v1.APIKey;
import io.github.grpcidempotency.example.organization.v1.APIKeyServiceGrpc;
import io.github.grpcidempotency.example.organization.v1.CreateAPIKeyRequest;
import io.github.grpcidempotency.example.organization.v1.RevokeAPIKeyRequest;
import io.grpc.Metadata;
import io.grpc.Status;
import java.util.UUID;
import org.jdbi.v3.core.Handle;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A right that was revoked since is not replayed, and the revocation itself never is. */
@ExtendWith(SharedExample.class)
class RevokedApiKeyTest {
  private static final Refused DENIED =
      new Refused(Status.Code.PERMISSION_DENIED, "IDEMPOTENCY_REPLAY_DENIED");

  private static RunningExample example;

  private final Metadata ada = user(UUID.randomUUID());
  private final UUID key = UuidCreator.getTimeOrderedEpoch();

  @BeforeAll
  static void share(RunningExample shared) {
    example = shared;
  }

  @Test
  void theTokenOfARevokedKeyIsNotReplayed() {
    ApiKeys apiKeys = ApiKeys.inNewProject(example.client(), ada);
    String id = apiKeys.create("capcom", key).response().getApiKey().getId();
    assertThat(apiKeys.create("capcom", key).isReplayed()).isTrue();

    apiKeys.revoke(id);
    assertThat(apiKeys.refusedCreate("capcom", key)).isEqualTo(DENIED);
  }

  @Test
  void norIsThatOfADeletedOne() {
    ApiKeys apiKeys = ApiKeys.inNewProject(example.client(), ada);
    String id = apiKeys.create("capcom", key).response().getApiKey().getId();
    try (Handle superuser = example.superuser()) {
      superuser.execute("DELETE FROM tenant.api_keys WHERE id = CAST(? AS uuid)", id);
    }
    assertThat(apiKeys.refusedCreate("capcom", key)).isEqualTo(DENIED);
  }

  @Test
  void revokingTwiceIsRevokingOnce() {
    ApiKeys apiKeys = ApiKeys.inNewProject(example.client(), ada);
    String id = apiKeys.create("capcom", key).response().getApiKey().getId();
    APIKey revoked = apiKeys.revoke(id).getApiKey();
    assertThat(revoked.hasRevokeTime()).isTrue();
    assertThat(apiKeys.revoke(id).getApiKey()).isEqualTo(revoked);
  }

  @Test
  void aUserCannotRevokeTheKeyOfAnother() {
    String id =
        ApiKeys.inNewProject(example.client(), ada)
            .create("capcom", key)
            .response()
            .getApiKey()
            .getId();
    assertThat(
            example
                .client()
                .refused(
                    user(UUID.randomUUID()),
                    APIKeyServiceGrpc.getRevokeAPIKeyMethod(),
                    RevokeAPIKeyRequest.newBuilder().setId(id).build())
                .code())
        .isEqualTo(Status.Code.NOT_FOUND);
  }

  @Test
  void aRevocationTakesNoKeyAndACreationNeedsOne() {
    assertThat(
            example
                .client()
                .refused(
                    keyed(key, ada),
                    APIKeyServiceGrpc.getRevokeAPIKeyMethod(),
                    RevokeAPIKeyRequest.getDefaultInstance()))
        .isEqualTo(new Refused(Status.Code.INVALID_ARGUMENT, "IDEMPOTENCY_KEY_PROHIBITED"));
    assertThat(
            example
                .client()
                .refused(
                    ada,
                    APIKeyServiceGrpc.getCreateAPIKeyMethod(),
                    CreateAPIKeyRequest.getDefaultInstance()))
        .isEqualTo(new Refused(Status.Code.INVALID_ARGUMENT, "IDEMPOTENCY_KEY_REQUIRED"));
  }
}
