package io.github.grpcidempotency.example.demo;

import io.github.grpcidempotency.example.organization.v1.AddProjectMemberRequest;
import io.github.grpcidempotency.example.organization.v1.AddProjectMemberResponse;
import io.github.grpcidempotency.example.organization.v1.ProjectServiceGrpc;
import io.grpc.MethodDescriptor;
import java.util.UUID;

/** A claim that travels with its handler's first statement, and what duplicates cost then. */
final class FirstStatement {
  private static final MethodDescriptor<AddProjectMemberRequest, AddProjectMemberResponse> ADD =
      ProjectServiceGrpc.getAddProjectMemberMethod();

  private FirstStatement() {}

  static void claimWithIt(Stage stage, Story story) {
    DemoClient keyed = stage.ada().keyed();
    AddProjectMemberRequest request =
        AddProjectMemberRequest.newBuilder()
            .setProjectId(stage.ada().newProject("skylark"))
            .setUserId(UUID.randomUUID().toString())
            .setRole("viewer")
            .build();
    int members = stage.rows().in("tenant.project_members", stage.ada().user());
    int started = stage.handlers().started(ADD);

    Answer first = story.call("AddProjectMember", () -> keyed.call(ADD, request));
    story.expect("a handler was started", first.isOk() && started(stage, started) == 1);
    Answer retry =
        story.call(
            "the same, which says that it is a retry",
            () -> keyed.with("idempotency-retry", true).call(ADD, request));
    story.expect("it is a replay", retry.isSameAs(first) && retry.isReplayed());
    story.expect("no handler was started for it", started(stage, started) == 1);
    Answer duplicate =
        story.call("the same, which does not say so", () -> keyed.call(ADD, request));
    story.expect("it is a replay, too", duplicate.isSameAs(first) && duplicate.isReplayed());
    story.expect("its handler was started, and stopped", started(stage, started) == 2);
    story.counted(
        members + 1,
        stage.rows().in("tenant.project_members", stage.ada().user()),
        "members, one more than before");
  }

  private static int started(Stage stage, int before) {
    return stage.handlers().started(ADD) - before;
  }
}
