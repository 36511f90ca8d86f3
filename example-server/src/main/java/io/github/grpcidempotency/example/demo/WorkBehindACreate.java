package io.github.grpcidempotency.example.demo;

import io.github.grpcidempotency.client.Intent;
import io.github.grpcidempotency.client.Reply;
import io.github.grpcidempotency.client.RetryingCaller;
import io.github.grpcidempotency.example.organization.v1.CreateProjectRequest;
import io.github.grpcidempotency.example.organization.v1.CreateProjectResponse;
import io.github.grpcidempotency.example.organization.v1.ProjectServiceGrpc;
import io.github.grpcidempotency.example.organization.v1.ProjectServiceGrpc.ProjectServiceBlockingStub;
import io.github.grpcidempotency.grpc.IdempotencyMetadata;
import io.grpc.stub.MetadataUtils;
import java.util.UUID;

/** The status of a create's asynchronous work, and a client that waits for its end. */
final class WorkBehindACreate implements Scene {
  @Override
  public String title() {
    return "A create starts asynchronous work, and a client waits for its end in one call";
  }

  @Override
  public void play(Stage stage, Story story) {
    UUID key = DemoClient.newKey();
    Answer first =
        story.call(
            "CreateProject \"mercury\"", () -> stage.ada().keyed(key).createProject("mercury"));
    story.expect(
        "its work is processing", first.trailer(IdempotencyMetadata.STATUS).equals("processing"));
    story.sent("the same call by the library's client, which waits for the end of the work");
    story.expect(
        "the work is completed", await(stage.ada(), "mercury", key) == Reply.Status.COMPLETED);

    story.sent("CreateProject \"fail-mariner\", a name for which the work fails");
    story.expect(
        "the client gets the status failed",
        await(stage.ada(), "fail-mariner", DemoClient.newKey()) == Reply.Status.FAILED);
  }

  private static Reply.Status await(DemoClient client, String name, UUID key) {
    ProjectServiceBlockingStub stub =
        ProjectServiceGrpc.newBlockingStub(client.channel())
            .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(client.metadata()));
    Reply<CreateProjectResponse> reply =
        RetryingCaller.builder()
            .build()
            .callAndAwait(
                Intent.parse(key.toString()).on(stub),
                ProjectServiceGrpc.getCreateProjectMethod(),
                CreateProjectRequest.newBuilder().setName(name).build());
    return reply.status().orElseThrow();
  }
}
