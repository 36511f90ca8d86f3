package io.github.grpcidempotency.example.demo;

import io.github.grpcidempotency.example.organization.v1.CreateClusterResponse;
import io.grpc.Status;
import java.util.List;

/** A handler that runs twice sends the other service the same key. */
final class OutboundKey implements Scene {
  private static final String REGION = "flaky-mars";

  @Override
  public String title() {
    return "A machine is sold and the provider's answer is lost, so the handler runs twice";
  }

  @Override
  public void play(Stage stage, Story story) {
    DemoClient ada = stage.ada().keyed();
    String projectId = stage.ada().newProject("viking");
    Answer failed =
        story.call(
            "CreateCluster, and the provider sells a machine and answers with an error",
            () -> KeysFromElsewhere.createCluster(ada, projectId, REGION));
    story.expect(
        "the call failed, and the machine is sold",
        failed.isRefused(Status.Code.UNAVAILABLE, "PROVIDER_UNAVAILABLE")
            && stage.shop().soldIn(REGION).size() == 1);
    Answer created =
        story.call(
            "the same call: the handler runs again, and sends the provider the same outbound key",
            () -> KeysFromElsewhere.createCluster(ada, projectId, REGION));
    story.expect(
        "one machine was sold, and the cluster has it",
        created.isFirst()
            && stage
                .shop()
                .soldIn(REGION)
                .equals(
                    List.of(created.as(CreateClusterResponse.class).getCluster().getMachine())));
  }
}
