package io.github.grpcidempotency.example;

import static io.github.grpcidempotency.example.TestClient.keyed;

import com.github.f4b6a3.uuid.UuidCreator;
import io.github.grpcidempotency.example.TestClient.Refused;
import io.github.grpcidempotency.example.TestClient.Reply;
import io.github.grpcidempotency.example.organization.v1.APIKeyServiceGrpc;
import io.github.grpcidempotency.example.organization.v1.CreateAPIKeyRequest;
import io.github.grpcidempotency.example.organization.v1.CreateAPIKeyResponse;
import io.github.grpcidempotency.example.organization.v1.CreateProjectRequest;
import io.github.grpcidempotency.example.organization.v1.ProjectServiceGrpc;
import io.github.grpcidempotency.example.organization.v1.RevokeAPIKeyRequest;
import io.github.grpcidempotency.example.organization.v1.RevokeAPIKeyResponse;
import io.grpc.Metadata;
import java.util.UUID;

/** One user's API keys in a separate project. */
record ApiKeys(TestClient client, Metadata user, String projectId) {

  static ApiKeys inNewProject(TestClient client, Metadata user) {
    return new ApiKeys(client, user, newProject(client, user));
  }

  static String newProject(TestClient client, Metadata user) {
    return client
        .call(
            keyed(UuidCreator.getTimeOrderedEpoch(), user),
            ProjectServiceGrpc.getCreateProjectMethod(),
            CreateProjectRequest.newBuilder().setName("apollo").build())
        .response()
        .getProject()
        .getId();
  }

  Reply<CreateAPIKeyResponse> create(String name, UUID key) {
    return client.call(keyed(key, user), APIKeyServiceGrpc.getCreateAPIKeyMethod(), creation(name));
  }

  Refused refusedCreate(String name, UUID key) {
    return client.refused(
        keyed(key, user), APIKeyServiceGrpc.getCreateAPIKeyMethod(), creation(name));
  }

  RevokeAPIKeyResponse revoke(String id) {
    return client
        .call(
            user,
            APIKeyServiceGrpc.getRevokeAPIKeyMethod(),
            RevokeAPIKeyRequest.newBuilder().setId(id).build())
        .response();
  }

  private CreateAPIKeyRequest creation(String name) {
    return CreateAPIKeyRequest.newBuilder().setProjectId(projectId).setName(name).build();
  }
}
