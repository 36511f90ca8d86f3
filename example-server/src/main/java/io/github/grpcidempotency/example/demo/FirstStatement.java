package io.github.grpcidempotency.example.demo;

import io.github.grpcidempotency.example.organization.v1.AddProjectMemberRequest;
import io.github.grpcidempotency.example.organization.v1.AddProjectMemberResponse;
import io.github.grpcidempotency.example.organization.v1.ProjectServiceGrpc;
import io.grpc.MethodDescriptor;
import java.util.UUID;

/** A claim that is sent together with its handler's first statement. */
final class FirstStatement implements Scene {
  private static final MethodDescriptor<AddProjectMemberRequest, AddProjectMemberResponse> ADD =
      ProjectServiceGrpc.getAddProjectMemberMethod();

  @Override
  public String title() {
    return "A claim travels with the handler's first statement, and costs no round trip";
  }

  @Override
  public void play(Stage stage, Story story) {
    DemoClient ada = stage.ada().keyed();
    AddProjectMemberRequest request =
        AddProjectMemberRequest.newBuilder()
            .setProjectId(stage.ada().newProject("skylark"))
            .setUserId(UUID.randomUUID().toString())
            .setRole("viewer")
            .build();
    Answer first = story.call("AddProjectMember", () -> ada.call(ADD, request));
    story.expect("its handler was started", started(stage) == 1);
    Answer retry =
        story.call(
            "the same, with idempotency-retry: true",
            () -> ada.with("idempotency-retry", true).call(ADD, request));
    story.expect(
        "no handler was started, because the call announced that it is a retry",
        retry.isReplayOf(first) && started(stage) == 1);
    Answer duplicate = story.call("the same, without the hint", () -> ada.call(ADD, request));
    story.expect(
        "a handler was started, and stopped at its first statement",
        duplicate.isReplayOf(first) && started(stage) == 2);
    story.counted(
        1,
        stage.count("tenant.project_members WHERE project_id = ?::uuid", request.getProjectId()),
        "member");
  }

  /** Returns how many handlers of the method were started, by gRPC's own metrics. */
  private static int started(Stage stage) {
    return stage
        .server()
        .samples()
        .lines()
        .filter(line -> line.startsWith("grpc_server_requests_received_messages_total{"))
        .filter(line -> line.contains("method=\"AddProjectMember\""))
        .mapToInt(line -> (int) Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .sum();
  }
}
