package io.github.grpcidempotency.example.demo;

import io.github.grpcidempotency.example.organization.v1.ImportMembersRequest;
import io.github.grpcidempotency.example.organization.v1.ImportMembersResponse;
import io.github.grpcidempotency.example.organization.v1.ImportedLine;
import io.github.grpcidempotency.example.organization.v1.MemberLine;
import io.github.grpcidempotency.example.organization.v1.ProjectServiceGrpc;
import io.github.grpcidempotency.example.organization.v1.UsageStatement;
import io.github.grpcidempotency.example.service.usage.UsageJob;
import io.github.grpcidempotency.work.WorkRefusedException;
import io.github.grpcidempotency.work.WorkResult;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.UUID;

/** What an interceptor cannot see: many keys in one call, and work without a call. */
final class ManyKeysOrNoCall {
  private static final Duration DAY = Duration.ofDays(1);

  private ManyKeysOrNoCall() {}

  static void importTwice(Stage stage, Story story) {
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
    ImportMembersResponse second =
        story
            .call("ImportMembers, the same 3 lines and 2 more", () -> run(ada, five))
            .as(ImportMembersResponse.class);
    story.expect(
        "3 lines had been done before, and 2 are new",
        second.getLinesList().stream().filter(ImportedLine::getReplayed).count() == 3
            && second.getLinesList().stream().allMatch(ImportedLine::hasMember));
    story.counted(5, stage.rows().in("tenant.project_members", ada.user()), "members");
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

  static void fireTheJobTwice(Stage stage, Story story) {
    Instant midnight = Instant.now().truncatedTo(ChronoUnit.DAYS).plus(DAY);
    story.sent("scheduler A and scheduler B: the usage statement due at " + midnight);
    try (UsageJob a = new UsageJob(stage.database().worker(), DAY);
        UsageJob b = new UsageJob(stage.database().worker(), DAY)) {
      OneKey.atOnce(List.of(() -> fire("A", a, midnight), () -> fire("B", b, midnight)))
          .forEach(story::cameBack);
      story.sent("scheduler B, once more");
      story.cameBack(fire("B", b, midnight));
    }
    story.counted(1, stage.rows().usageStatements(midnight), "usage statement for that day");
  }

  private static String fire(String name, UsageJob job, Instant due) {
    try {
      WorkResult<UsageStatement> result = job.run(due);
      return "%s: %s, %d creates by %d users"
          .formatted(
              name,
              result.replayed() ? "it had been run" : "it ran",
              result.value().getCreates(),
              result.value().getUsers());
    } catch (WorkRefusedException e) {
      return "%s: not run here, %s".formatted(name, e.reason());
    } catch (Exception e) {
      throw new IllegalStateException("the job failed", e);
    }
  }
}
