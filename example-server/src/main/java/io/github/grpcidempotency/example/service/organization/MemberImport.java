package io.github.grpcidempotency.example.service.organization;

import static io.github.grpcidempotency.example.service.tenant.Tables.PROJECT_MEMBERS;

import com.google.common.collect.ImmutableMap;
import io.github.grpcidempotency.event.RefusalReason;
import io.github.grpcidempotency.example.organization.v1.AddProjectMemberRequest;
import io.github.grpcidempotency.example.organization.v1.ImportMembersRequest;
import io.github.grpcidempotency.example.organization.v1.ImportMembersResponse;
import io.github.grpcidempotency.example.organization.v1.ImportedLine;
import io.github.grpcidempotency.example.organization.v1.MemberLine;
import io.github.grpcidempotency.example.organization.v1.ProjectMember;
import io.github.grpcidempotency.example.service.caller.CurrentCaller;
import io.github.grpcidempotency.example.service.outbox.Tuple;
import io.github.grpcidempotency.example.service.tenant.Tenant;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.InFlightPolicy;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.ResourceId;
import io.github.grpcidempotency.work.IdempotentWork;
import io.github.grpcidempotency.work.WorkFailedException;
import io.github.grpcidempotency.work.WorkRefusedException;
import io.github.grpcidempotency.work.WorkResult;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.time.Duration;
import java.util.UUID;

/**
 * Adds many users to a project, each line at most once under its own token. An interceptor cannot
 * do this, because it handles one key per call. Every line and its record are one transaction, so a
 * client can send an interrupted import again. While the database is unavailable, the whole call
 * ends with {@code UNAVAILABLE}.
 */
public final class MemberImport {
  /** The procedure for one line. A second import of the same line waits for the first. */
  public static final Procedure LINE =
      Procedure.named("organization.v1.ProjectService/ImportMembers/line")
          .resource(
              PROJECT_MEMBERS.type(), member -> ResourceId.of(((ProjectMember) member).getId()))
          .status(OutboxStatus.LATEST)
          .execution(Execution.TRANSACTIONAL)
          .inFlight(InFlightPolicy.attach(Duration.ofSeconds(5)))
          .build();

  private static final int MAX_LINES = 100;

  private final Tenant tenant;
  private final IdempotentWork work;

  /**
   * Creates the import.
   *
   * @param work runs lines; it must be configured with {@link #LINE}
   */
  public MemberImport(Tenant tenant, IdempotentWork work) {
    this.tenant = tenant;
    this.work = work;
  }

  ImportMembersResponse run(ImportMembersRequest request) {
    RequestCheck check = new RequestCheck();
    check.id("project_id", request.getProjectId());
    check.between(1, MAX_LINES, "lines", request.getLinesCount());
    for (int i = 0; i < request.getLinesCount(); i++) {
      String at = RequestCheck.element("lines", i);
      check.token(at + ".token", request.getLines(i).getToken());
      check.id(at + ".user_id", request.getLines(i).getUserId());
      check.text(at + ".role", request.getLines(i).getRole());
    }
    check.orThrow();
    ImportMembersResponse.Builder answer = ImportMembersResponse.newBuilder();
    for (MemberLine line : request.getLinesList()) {
      answer.addLines(once(request.getProjectId(), line));
    }
    return answer.build();
  }

  private ImportedLine once(String projectId, MemberLine line) {
    ImportedLine.Builder result = ImportedLine.newBuilder().setToken(line.getToken());
    AddProjectMemberRequest input =
        AddProjectMemberRequest.newBuilder()
            .setProjectId(projectId)
            .setUserId(line.getUserId())
            .setRole(line.getRole())
            .build();
    try {
      WorkResult<ProjectMember> done =
          work.run(
              LINE,
              CurrentCaller.get(),
              "import:" + line.getToken(),
              input,
              ProjectMember.parser(),
              () -> add(input));
      return result.setMember(done.value()).setReplayed(done.replayed()).build();
    } catch (WorkRefusedException e) {
      return result.setError(why(e.reason())).build();
    } catch (WorkFailedException e) {
      return result.setError(e.code() + ": " + e.getMessage()).build();
    } catch (RuntimeException e) {
      StatusRuntimeException failure = FailureStatus.of(e);
      if (failure.getStatus().getCode() == Status.Code.UNAVAILABLE) {
        throw failure;
      }
      return result.setError(why(failure.getStatus())).build();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return result.setError("ABORTED: the server is shutting down").build();
    } catch (Exception e) {
      throw new IllegalStateException("a line throws no other exception", e);
    }
  }

  /**
   * Adds a member within the claim of a line, which {@code ClaimTransaction} finds like the claim
   * of a call.
   */
  ProjectMember add(AddProjectMemberRequest line) {
    UUID projectId = UUID.fromString(line.getProjectId());
    UUID userId = UUID.fromString(line.getUserId());
    String role = line.getRole();
    NewResource<ProjectMember> member = NewResource.in(PROJECT_MEMBERS, role);
    return tenant
        .createWithinClaim(
            member.grants(new Tuple("user:" + userId, role, "project:" + projectId)),
            handle ->
                member.insert(
                    handle, projectId, ImmutableMap.of("member_user_id", userId, "role", role)))
        .orElseThrow(() -> Reply.notFound("project", projectId));
  }

  private static String why(RefusalReason reason) {
    return switch (reason) {
      case IDEMPOTENCY_KEY_REUSED -> "INVALID_ARGUMENT: the token was used for another line";
      case IDEMPOTENCY_IN_PROGRESS, IDEMPOTENCY_OUTCOME_UNKNOWN ->
          "ABORTED: the line is being imported";
      case IDEMPOTENCY_STORE_UNAVAILABLE ->
          throw FailureStatus.unavailable(
              "the database cannot be used at the moment", "DATABASE_UNAVAILABLE");
      default -> "INTERNAL: the server has an internal error";
    };
  }

  private static String why(Status status) {
    return status.getCode() + ": " + status.getDescription();
  }
}
