package io.github.grpcidempotency.example.service.organization;

import static io.github.grpcidempotency.example.service.tenant.Tables.API_KEYS;

import com.google.common.collect.ImmutableMap;
import io.github.grpcidempotency.example.organization.v1.APIKey;
import io.github.grpcidempotency.example.organization.v1.APIKeyServiceGrpc.APIKeyServiceImplBase;
import io.github.grpcidempotency.example.organization.v1.CreateAPIKeyRequest;
import io.github.grpcidempotency.example.organization.v1.CreateAPIKeyResponse;
import io.github.grpcidempotency.example.organization.v1.RevokeAPIKeyRequest;
import io.github.grpcidempotency.example.organization.v1.RevokeAPIKeyResponse;
import io.github.grpcidempotency.example.service.tenant.ApiKeys;
import io.github.grpcidempotency.example.service.tenant.Tenant;
import io.grpc.stub.StreamObserver;
import java.util.UUID;

/**
 * API keys of a project. It creates through the transaction of the call's claim. The answer
 * contains the token, and the service stores only its hash. A retry still gets the token, because
 * the library records the answer encrypted.
 */
public final class ApiKeyService extends APIKeyServiceImplBase {
  private final Tenant tenant;

  public ApiKeyService(Tenant tenant) {
    this.tenant = tenant;
  }

  @Override
  public void createAPIKey(
      CreateAPIKeyRequest request, StreamObserver<CreateAPIKeyResponse> observer) {
    Reply.to(observer, () -> create(request));
  }

  private CreateAPIKeyResponse create(CreateAPIKeyRequest request) {
    RequestCheck check = new RequestCheck();
    UUID projectId = check.id("project_id", request.getProjectId());
    String name = check.text("name", request.getName());
    check.orThrow();
    NewResource<APIKey> apiKey = NewResource.in(API_KEYS, name);
    OneTimeSecret token = OneTimeSecret.mint("key_");
    return tenant
        .createWithinClaim(
            apiKey.ownedByCaller(),
            handle ->
                apiKey.insert(
                    handle,
                    projectId,
                    ImmutableMap.of("name", name, "token_sha256", token.sha256())))
        .map(created -> answer(created, token))
        .orElseThrow(() -> Reply.notFound("project", projectId));
  }

  private static CreateAPIKeyResponse answer(APIKey created, OneTimeSecret token) {
    return CreateAPIKeyResponse.newBuilder().setApiKey(created).setToken(token.text()).build();
  }

  @Override
  public void revokeAPIKey(
      RevokeAPIKeyRequest request, StreamObserver<RevokeAPIKeyResponse> observer) {
    Reply.to(observer, () -> RevokeAPIKeyResponse.newBuilder().setApiKey(revoke(request)).build());
  }

  private APIKey revoke(RevokeAPIKeyRequest request) {
    UUID id = RequestCheck.onlyId("id", request.getId());
    return tenant
        .asCaller(handle -> ApiKeys.revoke(handle, id))
        .orElseThrow(() -> Reply.notFound("API key", id));
  }
}
