package io.github.grpcidempotency.example.demo;

import com.github.f4b6a3.uuid.UuidCreator;
import io.github.grpcidempotency.example.organization.v1.ImportMembersRequest;
import io.github.grpcidempotency.example.organization.v1.ImportMembersResponse;
import io.github.grpcidempotency.example.organization.v1.ImportedLine;
import io.github.grpcidempotency.example.organization.v1.MemberLine;
import io.github.grpcidempotency.example.organization.v1.ProjectServiceGrpc;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

final class ImportTwice implements Step {
  @Override
  public String title() {
    return "An import looks after its keys itself: every line has one";
  }

  @Override
  public void play(Stage stage, Story story) {
    String projectId = stage.ada().newProject("shuttle", UuidCreator.getTimeOrderedEpoch());
    List<MemberLine> lines = new ArrayList<>(List.of(line("row-1"), line("row-2"), line("row-3")));
    story.sent("ImportMembers, 3 lines");
    story.cameBack(run(stage.ada(), projectId, lines));

    lines.add(line("row-4"));
    lines.add(line("row-5"));
    story.sent("ImportMembers, the same 3 lines and 2 more");
    Answer answer = run(stage.ada(), projectId, lines);
    story.cameBack(answer);
    ImportMembersResponse second = answer.as(ImportMembersResponse.class);
    story.expect(
        "3 lines had been done before, and 2 are new",
        replayed(second) == 3 && second.getLinesList().stream().allMatch(ImportedLine::hasMember));
    story.counted(5, stage.rows().in("tenant.project_members", stage.ada().user()), "members");
  }

  private static MemberLine line(String token) {
    return MemberLine.newBuilder()
        .setToken(token)
        .setUserId(UUID.randomUUID().toString())
        .setRole("specialist")
        .build();
  }

  private static Answer run(DemoClient client, String projectId, List<MemberLine> lines) {
    return client.call(
        ProjectServiceGrpc.getImportMembersMethod(),
        ImportMembersRequest.newBuilder().setProjectId(projectId).addAllLines(lines).build(),
        response ->
            "%d lines, of which %d were done before"
                .formatted(response.getLinesCount(), replayed(response)));
  }

  private static long replayed(ImportMembersResponse response) {
    return response.getLinesList().stream().filter(ImportedLine::getReplayed).count();
  }
}
