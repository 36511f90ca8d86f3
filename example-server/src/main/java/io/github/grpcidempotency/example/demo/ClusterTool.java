package io.github.grpcidempotency.example.demo;

import io.github.grpcidempotency.client.CallFailedException;
import io.github.grpcidempotency.client.Intent;
import io.github.grpcidempotency.client.IntentCallback;
import io.github.grpcidempotency.client.IntentStore;
import io.github.grpcidempotency.client.IntentWorker;
import io.github.grpcidempotency.client.Reply;
import io.github.grpcidempotency.example.organization.v1.Cluster;
import io.github.grpcidempotency.example.organization.v1.ClusterServiceGrpc;
import io.github.grpcidempotency.example.organization.v1.ClusterServiceGrpc.ClusterServiceBlockingStub;
import io.github.grpcidempotency.example.organization.v1.CreateClusterRequest;
import io.github.grpcidempotency.example.organization.v1.CreateClusterResponse;
import io.github.grpcidempotency.example.organization.v1.ListClustersRequest;
import io.github.grpcidempotency.example.organization.v1.ListClustersResponse;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.stub.MetadataUtils;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;

/**
 * A command-line tool that creates a cluster, and finishes what earlier runs have begun. It runs in
 * a separate process: {@code PORT USER FILE [PROJECT NAME REGION]}. Without the last three
 * arguments it only finishes. Once a new intent is in the file, it waits for a line of input before
 * it goes on.
 */
final class ClusterTool implements IntentCallback<CreateClusterResponse> {
  /** Goes before the key of a new intent. */
  static final String INTENT = "intent ";

  /** Goes before the cluster, its machine and whether the answer is a replay. */
  static final String CLUSTER = "cluster ";

  private static final String SERVER = "organization";
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  /** Runs it. */
  public static void main(String... arguments)
      throws IOException, InterruptedException, SQLException {
    ManagedChannel channel =
        Grpc.newChannelBuilder("localhost:" + arguments[0], InsecureChannelCredentials.create())
            .build();
    Metadata user = new Metadata();
    user.put(
        Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER),
        "Bearer " + arguments[1]);
    ClusterServiceBlockingStub stub =
        ClusterServiceGrpc.newBlockingStub(channel)
            .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(user));
    IntentStore intents = IntentStore.sqlite(Path.of(arguments[2]));
    try (IntentWorker worker =
        IntentWorker.builder(intents)
            .method(SERVER, stub, ClusterServiceGrpc.getCreateClusterMethod(), new ClusterTool())
            .build()) {
      if (arguments.length > 3) {
        System.out.println(INTENT + write(intents, stub, arguments));
        System.in.read();
      }
      System.exit(worker.drain(PATIENCE) ? 0 : 1);
    }
  }

  private static Intent write(
      IntentStore intents, ClusterServiceBlockingStub stub, String... arguments)
      throws SQLException {
    String project = arguments[3];
    ListClustersResponse unused = // connects, and finds out whether there is such a project
        stub.listClusters(ListClustersRequest.newBuilder().setProjectId(project).build());
    return intents.write(
        SERVER,
        ClusterServiceGrpc.getCreateClusterMethod(),
        CreateClusterRequest.newBuilder()
            .setProjectId(project)
            .setName(arguments[4])
            .setRegion(arguments[5])
            .build());
  }

  @Override
  public void answered(Intent intent, Reply<CreateClusterResponse> reply) {
    Cluster cluster = reply.response().getCluster();
    System.out.printf(
        "%s%s %s %s%n", CLUSTER, cluster.getId(), cluster.getMachine(), reply.replayed());
  }

  @Override
  public void failed(Intent intent, CallFailedException failure) {
    System.out.println("failed: " + failure.getMessage());
  }
}
