package io.github.grpcidempotency.example.service.organization;

import static io.github.grpcidempotency.example.service.tenant.Tables.CLUSTERS;
import static io.github.grpcidempotency.example.service.tenant.Tables.INSTALLS;
import static io.github.grpcidempotency.example.service.tenant.Tables.NODE_POOLS;
import static io.github.grpcidempotency.example.service.tenant.Tables.PROJECTS;

import com.google.common.collect.ImmutableMap;
import io.github.grpcidempotency.example.cloud.v1.Machine;
import io.github.grpcidempotency.example.organization.v1.AddInstallRequest;
import io.github.grpcidempotency.example.organization.v1.AddInstallResponse;
import io.github.grpcidempotency.example.organization.v1.Cluster;
import io.github.grpcidempotency.example.organization.v1.ClusterServiceGrpc.ClusterServiceImplBase;
import io.github.grpcidempotency.example.organization.v1.CreateClusterRequest;
import io.github.grpcidempotency.example.organization.v1.CreateClusterResponse;
import io.github.grpcidempotency.example.organization.v1.CreateNodePoolRequest;
import io.github.grpcidempotency.example.organization.v1.CreateNodePoolResponse;
import io.github.grpcidempotency.example.organization.v1.GetClusterRequest;
import io.github.grpcidempotency.example.organization.v1.GetClusterResponse;
import io.github.grpcidempotency.example.organization.v1.Install;
import io.github.grpcidempotency.example.organization.v1.ListClustersRequest;
import io.github.grpcidempotency.example.organization.v1.ListClustersResponse;
import io.github.grpcidempotency.example.organization.v1.ListInstallsRequest;
import io.github.grpcidempotency.example.organization.v1.ListInstallsResponse;
import io.github.grpcidempotency.example.organization.v1.ListNodePoolsRequest;
import io.github.grpcidempotency.example.organization.v1.ListNodePoolsResponse;
import io.github.grpcidempotency.example.organization.v1.NodePool;
import io.github.grpcidempotency.example.service.tenant.Tenant;
import io.github.grpcidempotency.grpc.CurrentOperation;
import io.grpc.stub.StreamObserver;
import java.util.UUID;

/**
 * Clusters of a project, and what they contain. To create a cluster, it first buys a machine, which
 * is slow and cannot be rolled back, and then writes the row together with the answer. The other
 * methods contain no code for idempotency.
 */
public final class ClusterService extends ClusterServiceImplBase {
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
    RequestCheck check = new RequestCheck(request);
    UUID projectId = check.id("project_id", request.getProjectId());
    String name = check.text("name", request.getName());
    String region = check.text("region", request.getRegion());
    check.orThrow();
    requireProject(projectId); // or a machine is bought in vain
    NewResource<Cluster> cluster = NewResource.in(CLUSTERS, name);
    Machine machine = cloud.buy(region, CurrentOperation.outboundKey("machine"));
    return tenant
        .createAndComplete(
            cluster.ownedByCaller(),
            handle ->
                cluster.insert(
                    handle,
                    projectId,
                    ImmutableMap.of("name", name, "region", region, "machine", machine.getId())),
            created -> CreateClusterResponse.newBuilder().setCluster(created).build())
        .orElseThrow(() -> Reply.notFound("project", projectId));
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
    RequestCheck check = new RequestCheck(request);
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
    Reply.to(observer, () -> AddInstallResponse.newBuilder().setInstall(add(request)).build());
  }

  private Install add(AddInstallRequest request) {
    RequestCheck check = new RequestCheck(request);
    UUID clusterId = check.id("cluster_id", request.getClusterId());
    String name = check.text("name", request.getName());
    String version = check.text("version", request.getVersion());
    UUID installId = check.id("install_id", request.getInstallId());
    check.orThrow();
    NewResource<Install> install = NewResource.in(INSTALLS, name);
    return tenant
        .create(
            install.ownedByCaller(),
            handle ->
                install.insert(
                    handle,
                    clusterId,
                    ImmutableMap.of("install_id", installId, "name", name, "version", version)))
        .orElseThrow(() -> Reply.notFound("cluster", clusterId));
  }

  @Override
  public void getCluster(GetClusterRequest request, StreamObserver<GetClusterResponse> observer) {
    Reply.to(observer, () -> GetClusterResponse.newBuilder().setCluster(find(request)).build());
  }

  private Cluster find(GetClusterRequest request) {
    UUID id = RequestCheck.onlyId(request, "id", request.getId());
    return tenant
        .asCaller(handle -> CLUSTERS.find(handle, id))
        .orElseThrow(() -> Reply.notFound("cluster", id));
  }

  @Override
  public void listClusters(
      ListClustersRequest request, StreamObserver<ListClustersResponse> observer) {
    Reply.to(observer, () -> list(request));
  }

  private ListClustersResponse list(ListClustersRequest request) {
    UUID projectId = RequestCheck.onlyId(request, "project_id", request.getProjectId());
    return ListClustersResponse.newBuilder()
        .addAllClusters(tenant.asCaller(handle -> CLUSTERS.list(handle, projectId)))
        .build();
  }

  @Override
  public void listNodePools(
      ListNodePoolsRequest request, StreamObserver<ListNodePoolsResponse> observer) {
    Reply.to(observer, () -> list(request));
  }

  private ListNodePoolsResponse list(ListNodePoolsRequest request) {
    UUID clusterId = RequestCheck.onlyId(request, "cluster_id", request.getClusterId());
    return ListNodePoolsResponse.newBuilder()
        .addAllNodePools(tenant.asCaller(handle -> NODE_POOLS.list(handle, clusterId)))
        .build();
  }

  @Override
  public void listInstalls(
      ListInstallsRequest request, StreamObserver<ListInstallsResponse> observer) {
    Reply.to(observer, () -> list(request));
  }

  private ListInstallsResponse list(ListInstallsRequest request) {
    UUID clusterId = RequestCheck.onlyId(request, "cluster_id", request.getClusterId());
    return ListInstallsResponse.newBuilder()
        .addAllInstalls(tenant.asCaller(handle -> INSTALLS.list(handle, clusterId)))
        .build();
  }
}
