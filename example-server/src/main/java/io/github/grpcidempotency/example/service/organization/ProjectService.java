package io.github.grpcidempotency.example.service.organization;

import static io.github.grpcidempotency.example.service.tenant.Resources.PROJECT;
import static io.github.grpcidempotency.example.service.tenant.Resources.PROJECT_MEMBER;

import io.github.grpcidempotency.example.organization.v1.AddProjectMemberRequest;
import io.github.grpcidempotency.example.organization.v1.AddProjectMemberResponse;
import io.github.grpcidempotency.example.organization.v1.CreateProjectRequest;
import io.github.grpcidempotency.example.organization.v1.CreateProjectResponse;
import io.github.grpcidempotency.example.organization.v1.GetProjectRequest;
import io.github.grpcidempotency.example.organization.v1.GetProjectResponse;
import io.github.grpcidempotency.example.organization.v1.ImportMembersRequest;
import io.github.grpcidempotency.example.organization.v1.ImportMembersResponse;
import io.github.grpcidempotency.example.organization.v1.ListProjectMembersRequest;
import io.github.grpcidempotency.example.organization.v1.ListProjectMembersResponse;
import io.github.grpcidempotency.example.organization.v1.ListProjectsRequest;
import io.github.grpcidempotency.example.organization.v1.ListProjectsResponse;
import io.github.grpcidempotency.example.organization.v1.Project;
import io.github.grpcidempotency.example.organization.v1.ProjectMember;
import io.github.grpcidempotency.example.organization.v1.ProjectServiceGrpc.ProjectServiceImplBase;
import io.github.grpcidempotency.example.service.outbox.Tuple;
import io.github.grpcidempotency.example.service.tenant.ProjectMembers;
import io.github.grpcidempotency.example.service.tenant.Projects;
import io.github.grpcidempotency.example.service.tenant.Tenant;
import io.grpc.stub.StreamObserver;
import java.util.Optional;
import java.util.UUID;

/** Projects and who belongs to them. Creates through the transaction of the call's claim. */
public final class ProjectService extends ProjectServiceImplBase {
  private final Tenant tenant;
  private final MemberImport memberImport;

  public ProjectService(Tenant tenant, MemberImport memberImport) {
    this.tenant = tenant;
    this.memberImport = memberImport;
  }

  @Override
  public void createProject(
      CreateProjectRequest request, StreamObserver<CreateProjectResponse> observer) {
    Reply.to(
        observer, () -> CreateProjectResponse.newBuilder().setProject(create(request)).build());
  }

  private Project create(CreateProjectRequest request) {
    RequestCheck check = new RequestCheck(request);
    String name = check.text("name", request.getName());
    check.orThrow();
    NewResource project = NewResource.of(PROJECT, name);
    return tenant
        .createWithinClaim(
            project.ownedByCaller(),
            handle -> Optional.of(Projects.insert(handle, project.id(), name)))
        .orElseThrow();
  }

  @Override
  public void addProjectMember(
      AddProjectMemberRequest request, StreamObserver<AddProjectMemberResponse> observer) {
    Reply.to(observer, () -> AddProjectMemberResponse.newBuilder().setMember(add(request)).build());
  }

  private ProjectMember add(AddProjectMemberRequest request) {
    RequestCheck check = new RequestCheck(request);
    UUID projectId = check.id("project_id", request.getProjectId());
    UUID userId = check.id("user_id", request.getUserId());
    String role = check.text("role", request.getRole());
    check.orThrow();
    NewResource member = NewResource.of(PROJECT_MEMBER, role);
    return tenant
        .createWithinClaim(
            member.grants(new Tuple("user:" + userId, role, "project:" + projectId)),
            handle -> ProjectMembers.insert(handle, member.id(), projectId, userId, role))
        .orElseThrow(() -> Reply.notFound("project", projectId));
  }

  @Override
  public void importMembers(
      ImportMembersRequest request, StreamObserver<ImportMembersResponse> observer) {
    Reply.to(observer, () -> memberImport.run(request));
  }

  @Override
  public void getProject(GetProjectRequest request, StreamObserver<GetProjectResponse> observer) {
    Reply.to(observer, () -> GetProjectResponse.newBuilder().setProject(find(request)).build());
  }

  private Project find(GetProjectRequest request) {
    RequestCheck check = new RequestCheck(request);
    UUID id = check.id("id", request.getId());
    check.orThrow();
    return tenant
        .read(handle -> Projects.find(handle, id))
        .orElseThrow(() -> Reply.notFound("project", id));
  }

  @Override
  public void listProjects(
      ListProjectsRequest request, StreamObserver<ListProjectsResponse> observer) {
    Reply.to(
        observer,
        () ->
            ListProjectsResponse.newBuilder().addAllProjects(tenant.read(Projects::list)).build());
  }

  @Override
  public void listProjectMembers(
      ListProjectMembersRequest request, StreamObserver<ListProjectMembersResponse> observer) {
    Reply.to(observer, () -> list(request));
  }

  private ListProjectMembersResponse list(ListProjectMembersRequest request) {
    RequestCheck check = new RequestCheck(request);
    UUID projectId = check.id("project_id", request.getProjectId());
    check.orThrow();
    return ListProjectMembersResponse.newBuilder()
        .addAllMembers(tenant.read(handle -> ProjectMembers.list(handle, projectId)))
        .build();
  }
}
