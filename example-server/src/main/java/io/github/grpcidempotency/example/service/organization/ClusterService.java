package io.github.grpcidempotency.example.service.organization;

import static io.github.grpcidempotency.example.service.tenant.Tables.CLUSTERS;
import static io.github.grpcidempotency.example.service.tenant.Tables.INSTALLS;
import static io.github.grpcidempotency.example.service.tenant.Tables.NODE_POOLS;
import static io.github.grpcidempotency.example.service.tenant.Tables.PROJECTS;

import com.google.common.collect.ImmutableMap;
import io.github.grpcidempotency.example.organization.v1.AddInstallRequest;
import io.github.grpcidempotency.example.organization.v1.AddInstallResponse;
import io.github.grpcidempotency.example.organization.v1.Cluster;
import io.github.grpcidempotency.example.organization.v1.ClusterServiceGrpc.ClusterServiceImplBase;
import io.github.grpcidempotency.example.organization.v1.CreateClusterRequest;
import io.github.grpcidempotency.example.organization.v1.CreateClusterResponse;
import io.github.grpcidempotency.example.organization.v1.CreateNodePoolRequest;
import io.github.grpcidempotency.example.organization.v1.CreateNodePoolResponse;
import io.github.grpcidempotency.example.organization.v1.Install;
import io.github.grpcidempotency.example.organization.v1.NodePool;
import io.github.grpcidempotency.example.service.tenant.Tenant;
import io.github.grpcidempotency.grpc.CurrentOperation;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Clusters of a project, and what they contain. To create a cluster, it first buys a machine, which
 * is slow and cannot be rolled back, and then writes the row together with the answer. {@code
 * AddInstall} writes its row together with the answer, too. {@code CreateNodePool} contains no code
 * for idempotency.
 */
public final class ClusterService extends ClusterServiceImplBase {
  private static final Logger log = LoggerFactory.getLogger(ClusterService.class);
  private static final int MAX_NODES = 1000;

  private final Tenant tenant;
  private final CloudProvider cloud;

  public ClusterService(Tenant tenant, CloudProvider cloud) {
    this.tenant = tenant;
    this.cloud = cloud;
  }

  @Override
  public void createCluster(
      CreateClusterRequest request, StreamObserver<CreateClusterResponse> observer) {
    Reply.to(observer, () -> create(request));
  }

  private CreateClusterResponse create(CreateClusterRequest request) {
    RequestCheck check = new RequestCheck();
    UUID projectId = check.id("project_id", request.getProjectId());
    String name = check.text("name", request.getName());
    String region = check.text("region", request.getRegion());
    check.orThrow();
    requireProject(projectId); // before a machine is bought
    NewResource<Cluster> cluster = NewResource.in(CLUSTERS, name);
    String machine = buy(region);
    return tenant
        .createAndComplete(
            cluster.ownedByCaller(),
            handle ->
                cluster.insert(
                    handle,
                    projectId,
                    ImmutableMap.of("name", name, "region", region, "machine", machine)),
            created -> CreateClusterResponse.newBuilder().setCluster(created).build())
        .orElseThrow(() -> Reply.notFound("project", projectId));
  }

  /** Buys with the same key in every run of this operation, so that a second run buys nothing. */
  private String buy(String region) {
    try {
      return cloud.buy(region, CurrentOperation.outboundKey("machine"));
    } catch (StatusRuntimeException failure) {
      if (failure.getStatus().getCode() == Status.Code.ALREADY_EXISTS) {
        // After an error the client's key is free, and the client has sent the key again with
        // another request.
        throw Status.INVALID_ARGUMENT
            .withDescription(
                "a machine in another region was already bought with this idempotency-key")
            .asRuntimeException();
      }
      log.warn(
          "The cloud provider did not answer, and may have sold a machine: {}. A retry is safe.",
          failure.getStatus());
      throw FailureStatus.unavailable(
          "the cloud provider has not answered", "PROVIDER_UNAVAILABLE");
    }
  }

  private void requireProject(UUID id) {
    if (tenant.asCaller(handle -> PROJECTS.find(handle, id)).isEmpty()) {
      throw Reply.notFound("project", id);
    }
  }

  @Override
  public void createNodePool(
      CreateNodePoolRequest request, StreamObserver<CreateNodePoolResponse> observer) {
    Reply.to(
        observer, () -> CreateNodePoolResponse.newBuilder().setNodePool(create(request)).build());
  }

  private NodePool create(CreateNodePoolRequest request) {
    RequestCheck check = new RequestCheck();
    UUID clusterId = check.id("cluster_id", request.getClusterId());
    String name = check.text("name", request.getName());
    int nodeCount = check.between(1, MAX_NODES, "node_count", request.getNodeCount());
    check.orThrow();
    NewResource<NodePool> nodePool = NewResource.in(NODE_POOLS, name);
    return tenant
        .create(
            nodePool.ownedByCaller(),
            handle ->
                nodePool.insert(
                    handle, clusterId, ImmutableMap.of("name", name, "node_count", nodeCount)))
        .orElseThrow(() -> Reply.notFound("cluster", clusterId));
  }

  @Override
  public void addInstall(AddInstallRequest request, StreamObserver<AddInstallResponse> observer) {
    Reply.to(observer, () -> add(request));
  }

  /** Commits row and answer together: after a crash between them, the chosen id would be taken. */
  private AddInstallResponse add(AddInstallRequest request) {
    RequestCheck check = new RequestCheck();
    UUID clusterId = check.id("cluster_id", request.getClusterId());
    String name = check.text("name", request.getName());
    String version = check.text("version", request.getVersion());
    UUID installId = check.id("install_id", request.getInstallId());
    check.orThrow();
    NewResource<Install> install = NewResource.in(INSTALLS, name);
    return tenant
        .createAndComplete(
            install.ownedByCaller(),
            handle ->
                install.insert(
                    handle,
                    clusterId,
                    ImmutableMap.of("install_id", installId, "name", name, "version", version)),
            created -> AddInstallResponse.newBuilder().setInstall(created).build())
        .orElseThrow(() -> Reply.notFound("cluster", clusterId));
  }
}
