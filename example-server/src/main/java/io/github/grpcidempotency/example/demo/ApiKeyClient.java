package io.github.grpcidempotency.example.demo;

import com.github.f4b6a3.uuid.UuidCreator;
import io.github.grpcidempotency.example.organization.v1.APIKeyServiceGrpc;
import io.github.grpcidempotency.example.organization.v1.CreateAPIKeyRequest;
import io.github.grpcidempotency.example.organization.v1.RevokeAPIKeyRequest;
import java.util.UUID;

/** A user's client for the API keys of one project. */
record ApiKeyClient(DemoClient user, String projectId) {

  static ApiKeyClient inNewProject(DemoClient user, String name) {
    return new ApiKeyClient(user, user.newProject(name, UuidCreator.getTimeOrderedEpoch()));
  }

  Answer create(String name, UUID key) {
    return user.keyed(key)
        .call(
            APIKeyServiceGrpc.getCreateAPIKeyMethod(),
            CreateAPIKeyRequest.newBuilder().setProjectId(projectId).setName(name).build(),
            response ->
                "API key %s, token %.10s..."
                    .formatted(response.getApiKey().getId(), response.getToken()));
  }

  Answer revoke(String id) {
    return revokeWith(user, id);
  }

  Answer revokeKeyed(String id) {
    return revokeWith(user.keyed(UuidCreator.getTimeOrderedEpoch()), id);
  }

  private static Answer revokeWith(DemoClient client, String id) {
    return client.call(
        APIKeyServiceGrpc.getRevokeAPIKeyMethod(),
        RevokeAPIKeyRequest.newBuilder().setId(id).build(),
        response -> "API key %s, revoked".formatted(response.getApiKey().getId()));
  }
}
