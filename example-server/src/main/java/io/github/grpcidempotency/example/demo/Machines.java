package io.github.grpcidempotency.example.demo;

import io.github.grpcidempotency.example.cloud.v1.ListMachinesRequest;
import io.github.grpcidempotency.example.cloud.v1.Machine;
import io.github.grpcidempotency.example.cloud.v1.MachineServiceGrpc;
import io.github.grpcidempotency.example.organization.v1.Cluster;
import io.github.grpcidempotency.example.organization.v1.ClusterServiceGrpc;
import io.github.grpcidempotency.example.organization.v1.CreateClusterRequest;
import io.github.grpcidempotency.example.organization.v1.CreateClusterResponse;
import io.grpc.Channel;
import io.grpc.Status;
import java.util.List;

/**
 * The machines that the cloud provider has sold, as the provider reports them.
 *
 * @param provider a channel to the provider, not through the example server
 */
record Machines(Channel provider) {

  List<Machine> in(String region) {
    return MachineServiceGrpc.newBlockingStub(provider)
        .listMachines(ListMachinesRequest.getDefaultInstance())
        .getMachinesList()
        .stream()
        .filter(machine -> machine.getRegion().equals(region))
        .toList();
  }

  /** Expects that one machine was sold in a region, and that a cluster stands on it. */
  void expectOne(Story story, String region, Cluster cluster) {
    story.expect(
        "the provider has sold 1 machine in " + region + ", and the cluster stands on it",
        in(region).stream().map(Machine::getId).toList().equals(List.of(cluster.getMachine())));
  }

  static void buyOnceInTwoRuns(Stage stage, Story story) {
    DemoClient ada = stage.ada().keyed();
    String region = "flaky-mars";
    CreateClusterRequest request =
        CreateClusterRequest.newBuilder()
            .setProjectId(ada.newProject("viking"))
            .setName("lander")
            .setRegion(region)
            .build();
    Answer failed =
        story.call(
            "CreateCluster \"lander\", and the provider sells a machine and answers with an error",
            () -> create(ada, request));
    story.expect(
        "the call failed", failed.isRefused(Status.Code.UNAVAILABLE, "PROVIDER_UNAVAILABLE"));
    story.expect("the machine is sold all the same", stage.machines().in(region).size() == 1);
    Answer created =
        story.call(
            "the same call: the handler runs once more, and sends the provider the same outbound key",
            () -> create(ada, request));
    story.expect("it succeeded, and was no replay", created.isOk() && !created.isReplayed());
    stage.machines().expectOne(story, region, created.as(CreateClusterResponse.class).getCluster());
  }

  private static Answer create(DemoClient client, CreateClusterRequest request) {
    return client.call(ClusterServiceGrpc.getCreateClusterMethod(), request);
  }
}
