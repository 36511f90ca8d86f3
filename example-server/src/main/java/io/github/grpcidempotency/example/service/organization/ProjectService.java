package io.github.grpcidempotency.example.service.organization;

import static io.github.grpcidempotency.example.service.tenant.Tables.PROJECTS;
import static io.github.grpcidempotency.example.service.tenant.Tables.PROJECT_MEMBERS;

import com.google.common.collect.ImmutableMap;
import io.github.grpcidempotency.example.organization.v1.AddProjectMemberRequest;
import io.github.grpcidempotency.example.organization.v1.AddProjectMemberResponse;
import io.github.grpcidempotency.example.organization.v1.CreateProjectRequest;
import io.github.grpcidempotency.example.organization.v1.CreateProjectResponse;
import io.github.grpcidempotency.example.organization.v1.GetProjectRequest;
import io.github.grpcidempotency.example.organization.v1.GetProjectResponse;
import io.github.grpcidempotency.example.organization.v1.Project;
import io.github.grpcidempotency.example.organization.v1.ProjectMember;
import io.github.grpcidempotency.example.organization.v1.ProjectServiceGrpc.ProjectServiceImplBase;
import io.github.grpcidempotency.example.service.outbox.Tuple;
import io.github.grpcidempotency.example.service.tenant.Tenant;
import io.grpc.stub.StreamObserver;
import java.util.UUID;

/** Projects and their members. Creates through the transaction of the call's claim. */
public final class ProjectService extends ProjectServiceImplBase {
  private final Tenant tenant;

  public ProjectService(Tenant tenant) {
    this.tenant = tenant;
  }

  @Override
  public void createProject(
      CreateProjectRequest request, StreamObserver<CreateProjectResponse> observer) {
    Reply.to(
        observer, () -> CreateProjectResponse.newBuilder().setProject(create(request)).build());
  }

  private Project create(CreateProjectRequest request) {
    RequestCheck check = new RequestCheck();
    String name = check.text("name", request.getName());
    check.orThrow();
    NewResource<Project> project = NewResource.in(PROJECTS, name);
    return tenant
        .createWithinClaim(
            project.ownedByCaller(),
            handle -> project.insert(handle, ImmutableMap.of("name", name)))
        .orElseThrow();
  }

  @Override
  public void addProjectMember(
      AddProjectMemberRequest request, StreamObserver<AddProjectMemberResponse> observer) {
    Reply.to(observer, () -> AddProjectMemberResponse.newBuilder().setMember(add(request)).build());
  }

  private ProjectMember add(AddProjectMemberRequest request) {
    RequestCheck check = new RequestCheck();
    UUID projectId = check.id("project_id", request.getProjectId());
    UUID userId = check.id("user_id", request.getUserId());
    String role = check.text("role", request.getRole());
    check.orThrow();
    NewResource<ProjectMember> member = NewResource.in(PROJECT_MEMBERS, role);
    return tenant
        .createWithinClaim(
            member.grants(new Tuple("user:" + userId, role, "project:" + projectId)),
            handle ->
                member.insert(
                    handle, projectId, ImmutableMap.of("member_user_id", userId, "role", role)))
        .orElseThrow(() -> Reply.notFound("project", projectId));
  }

  @Override
  public void getProject(GetProjectRequest request, StreamObserver<GetProjectResponse> observer) {
    Reply.to(observer, () -> GetProjectResponse.newBuilder().setProject(find(request)).build());
  }

  private Project find(GetProjectRequest request) {
    UUID id = RequestCheck.onlyId("id", request.getId());
    return tenant
        .asCaller(handle -> PROJECTS.find(handle, id))
        .orElseThrow(() -> Reply.notFound("project", id));
  }
}
