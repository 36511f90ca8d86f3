package io.github.grpcidempotency.example.service.organization;

import static io.github.grpcidempotency.example.service.tenant.Tables.NAMESPACES;

import com.google.common.collect.ImmutableMap;
import com.google.protobuf.Empty;
import io.github.grpcidempotency.example.organization.v1.CreateNamespaceRequest;
import io.github.grpcidempotency.example.organization.v1.CreateNamespaceResponse;
import io.github.grpcidempotency.example.organization.v1.DeleteNamespaceRequest;
import io.github.grpcidempotency.example.organization.v1.Namespace;
import io.github.grpcidempotency.example.organization.v1.NamespaceServiceGrpc.NamespaceServiceImplBase;
import io.github.grpcidempotency.example.service.tenant.Namespaces;
import io.github.grpcidempotency.example.service.tenant.Tenant;
import io.grpc.stub.StreamObserver;
import java.util.UUID;

/** Namespaces of a project. Creates and deletes through the transaction of the call's claim. */
public final class NamespaceService extends NamespaceServiceImplBase {
  private final Tenant tenant;

  public NamespaceService(Tenant tenant) {
    this.tenant = tenant;
  }

  @Override
  public void createNamespace(
      CreateNamespaceRequest request, StreamObserver<CreateNamespaceResponse> observer) {
    Reply.to(
        observer, () -> CreateNamespaceResponse.newBuilder().setNamespace(create(request)).build());
  }

  private Namespace create(CreateNamespaceRequest request) {
    RequestCheck check = new RequestCheck();
    UUID projectId = check.id("project_id", request.getProjectId());
    String name = check.text("name", request.getName());
    check.orThrow();
    NewResource<Namespace> namespace = NewResource.in(NAMESPACES, name);
    return tenant
        .createWithinClaim(
            namespace.ownedByCaller(),
            handle -> namespace.insert(handle, projectId, ImmutableMap.of("name", name)))
        .orElseThrow(() -> Reply.notFound("project", projectId));
  }

  @Override
  public void deleteNamespace(DeleteNamespaceRequest request, StreamObserver<Empty> observer) {
    Reply.to(observer, () -> delete(request));
  }

  private Empty delete(DeleteNamespaceRequest request) {
    UUID id = RequestCheck.onlyId("id", request.getId());
    if (!tenant.withinClaim(handle -> Namespaces.delete(handle, id))) {
      throw Reply.notFound("namespace", id);
    }
    return Empty.getDefaultInstance();
  }
}
