package io.github.grpcidempotency.example.demo;

import io.github.grpcidempotency.example.organization.v1.ImportMembersRequest;
import io.github.grpcidempotency.example.organization.v1.ImportMembersResponse;
import io.github.grpcidempotency.example.organization.v1.ImportedLine;
import io.github.grpcidempotency.example.organization.v1.MemberLine;
import io.github.grpcidempotency.example.organization.v1.ProjectServiceGrpc;
import java.util.UUID;

/** A handler that manages keys itself: one for each line of an import. */
final class ManyKeysInOneCall implements Scene {
  @Override
  public String title() {
    return "An import has a key in each line, and is sent again with more lines";
  }

  @Override
  public void play(Stage stage, Story story) {
    DemoClient ada = stage.ada();
    ImportMembersRequest three =
        ImportMembersRequest.newBuilder()
            .setProjectId(ada.newProject("shuttle"))
            .addLines(line("row-1"))
            .addLines(line("row-2"))
            .addLines(line("row-3"))
            .build();
    story.call("ImportMembers, 3 lines", () -> run(ada, three));
    ImportMembersRequest five =
        three.toBuilder().addLines(line("row-4")).addLines(line("row-5")).build();
    Answer second = story.call("the same 3 lines, and 2 more", () -> run(ada, five));
    story.expect(
        "3 lines are replayed, and 2 are new",
        second.as(ImportMembersResponse.class).getLinesList().stream()
                .filter(ImportedLine::getReplayed)
                .count()
            == 3);
    story.counted(
        5,
        stage.count("tenant.project_members WHERE project_id = ?::uuid", three.getProjectId()),
        "members");
  }

  private static MemberLine line(String token) {
    return MemberLine.newBuilder()
        .setToken(token)
        .setUserId(UUID.randomUUID().toString())
        .setRole("specialist")
        .build();
  }

  private static Answer run(DemoClient client, ImportMembersRequest request) {
    return client.call(ProjectServiceGrpc.getImportMembersMethod(), request);
  }
}
