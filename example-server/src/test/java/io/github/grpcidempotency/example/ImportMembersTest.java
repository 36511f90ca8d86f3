package io.github.grpcidempotency.example;

import static io.github.grpcidempotency.example.TestClient.user;
import static io.github.grpcidempotency.example.organization.v1.ProjectServiceGrpc.getImportMembersMethod;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.example.organization.v1.ImportMembersRequest;
import io.github.grpcidempotency.example.organization.v1.ImportedLine;
import io.github.grpcidempotency.example.organization.v1.MemberLine;
import io.grpc.Metadata;
import io.grpc.Status;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import org.jdbi.v3.core.Handle;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** An RPC whose handler deduplicates its lines. */
@ExtendWith(SharedExample.class)
class ImportMembersTest {
  private static RunningExample example;

  private final Metadata ada = user(UUID.randomUUID());
  private String projectId = "";

  @BeforeAll
  static void share(RunningExample shared) {
    example = shared;
  }

  @BeforeEach
  void newProject() {
    projectId = ApiKeys.newProject(example.client(), ada);
  }

  @Test
  void aFailedLineDoesNotStopTheOthersAndCanBeCorrected() {
    MemberLine good = line("good", UUID.randomUUID());
    MemberLine taken = line("taken", UUID.fromString(good.getUserId()));
    List<ImportedLine> first = run(List.of(good, taken));
    assertThat(first.get(0).hasMember()).isTrue();
    assertThat(first.get(1).getError()).isEqualTo("ALREADY_EXISTS: it already exists");

    List<ImportedLine> corrected = run(List.of(good, line("taken", UUID.randomUUID())));
    assertThat(corrected.get(0).getReplayed()).isTrue();
    assertThat(corrected.get(1).hasMember()).isTrue();
    assertThat(members()).isEqualTo(2);
  }

  @Test
  void aTokenStandsForOneLine() {
    run(List.of(line("row-1", UUID.randomUUID())));
    assertThat(run(List.of(line("row-1", UUID.randomUUID()))).get(0).getError())
        .isEqualTo("INVALID_ARGUMENT: the token was used for another line");
    assertThat(members()).isEqualTo(1);
  }

  @Test
  void anInvalidImportIsRefusedAsAWhole() {
    MemberLine nameless = line("", UUID.randomUUID());
    assertThat(
            example
                .client()
                .refused(ada, getImportMembersMethod(), request(List.of(nameless)))
                .code())
        .isEqualTo(Status.Code.INVALID_ARGUMENT);
    assertThat(example.client().refused(ada, getImportMembersMethod(), request(List.of())).code())
        .isEqualTo(Status.Code.INVALID_ARGUMENT);
  }

  /** The same lines for the same number. */
  private static List<MemberLine> lines(int count) {
    return IntStream.range(0, count).mapToObj(row -> line("row-" + row, new UUID(7, row))).toList();
  }

  private static MemberLine line(String token, UUID member) {
    return MemberLine.newBuilder()
        .setToken(token)
        .setUserId(member.toString())
        .setRole("specialist")
        .build();
  }

  private List<ImportedLine> run(List<MemberLine> lines) {
    return example
        .client()
        .call(ada, getImportMembersMethod(), request(lines))
        .response()
        .getLinesList();
  }

  private ImportMembersRequest request(List<MemberLine> lines) {
    return ImportMembersRequest.newBuilder().setProjectId(projectId).addAllLines(lines).build();
  }

  private int members() {
    try (Handle superuser = example.superuser()) {
      return superuser
          .createQuery("SELECT count(*) FROM tenant.project_members WHERE project_id = :id::uuid")
          .bind("id", projectId)
          .mapTo(Integer.class)
          .one();
    }
  }
}
