package io.github.grpcidempotency.example;

import static io.github.grpcidempotency.example.TestClient.nobody;
import static io.github.grpcidempotency.example.TestClient.user;
import static io.github.grpcidempotency.example.TestClient.violations;
import static io.github.grpcidempotency.example.TestClient.with;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.github.f4b6a3.uuid.UuidCreator;
import com.google.protobuf.Message;
import io.github.grpcidempotency.example.TestClient.Reply;
import io.github.grpcidempotency.example.organization.v1.AddProjectMemberRequest;
import io.github.grpcidempotency.example.organization.v1.ClusterServiceGrpc;
import io.github.grpcidempotency.example.organization.v1.CreateClusterRequest;
import io.github.grpcidempotency.example.organization.v1.CreateProjectRequest;
import io.github.grpcidempotency.example.organization.v1.CreateProjectResponse;
import io.github.grpcidempotency.example.organization.v1.GetProjectRequest;
import io.github.grpcidempotency.example.organization.v1.ProjectServiceGrpc;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.reflection.v1.ServerReflectionGrpc;
import io.grpc.reflection.v1.ServerReflectionRequest;
import io.grpc.reflection.v1.ServerReflectionResponse;
import io.grpc.reflection.v1.ServiceResponse;
import io.grpc.stub.StreamObserver;
import io.grpc.testing.StreamRecorder;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Who may do what, and what all other callers get. */
@ExtendWith(SharedExample.class)
class CallerAndTenantTest {
  private static RunningExample example;

  private final Metadata ada = user(UUID.randomUUID());
  private final Metadata grace = user(UUID.randomUUID());

  @BeforeAll
  static void share(RunningExample shared) {
    example = shared;
  }

  @Test
  void aCallWithoutAUserIsUnauthenticated() {
    assertRefused(Status.Code.UNAUTHENTICATED, nobody(), createProject("apollo"));
    assertRefused(
        Status.Code.UNAUTHENTICATED,
        with("authorization", "Bearer somebody", nobody()),
        createProject("apollo"));
  }

  @Test
  void healthNeedsNoUser() {
    assertThat(
            call(
                    nobody(),
                    new Call<>(
                        HealthGrpc.getCheckMethod(), HealthCheckRequest.getDefaultInstance()))
                .response()
                .getStatus())
        .isEqualTo(ServingStatus.SERVING);
  }

  @Test
  @SuppressWarnings("deprecation") // grpc-testing has no other recorder for its users
  void reflectionNeedsNoUserAndListsTheServices() throws Exception {
    StreamRecorder<ServerReflectionResponse> listed = StreamRecorder.create();
    StreamObserver<ServerReflectionRequest> reflection =
        ServerReflectionGrpc.newStub(example.client().channel()).serverReflectionInfo(listed);
    reflection.onNext(ServerReflectionRequest.newBuilder().setListServices("").build());
    reflection.onCompleted();

    assertThat(listed.awaitCompletion(20, TimeUnit.SECONDS)).isTrue();
    assertThat(listed.firstValue().get().getListServicesResponse().getServiceList())
        .extracting(ServiceResponse::getName)
        .contains(
            "organization.v1.ProjectService",
            "organization.v1.ClusterService",
            "organization.v1.NamespaceService",
            "organization.v1.APIKeyService",
            "organization.v1.InviteService");
  }

  @Test
  void aBadRequestGetsAllItsProblemsAtOnce() {
    StatusRuntimeException refused =
        assertRefused(
            Status.Code.INVALID_ARGUMENT,
            with("idempotency-key", UUID.randomUUID().toString(), ada),
            new Call<>(
                ClusterServiceGrpc.getCreateClusterMethod(),
                CreateClusterRequest.newBuilder().setProjectId("none").setName(" ").build()));
    assertThat(violations(refused)).containsExactly("project_id", "name", "region");
  }

  @Test
  void anOrganizationThatNobodyCanHaveIsABadRequest() {
    assertRefused(
        Status.Code.INVALID_ARGUMENT,
        with("organization", "a".repeat(64), ada),
        createProject("apollo"));
  }

  @Test
  void aCallWithTwoUsersOrPlacesIsRefused() {
    assertRefused(
        Status.Code.UNAUTHENTICATED,
        with("authorization", "Bearer " + UUID.randomUUID(), ada),
        createProject("apollo"));
    for (String place : List.of("organization", "project")) {
      assertRefused(
          Status.Code.INVALID_ARGUMENT,
          with(place, "nasa", with(place, "esa", ada)),
          createProject("apollo"));
    }
  }

  @Test
  void anUnknownParentIsNotFoundAndFreesItsKey() {
    Metadata keyed = with("idempotency-key", UuidCreator.getTimeOrderedEpoch().toString(), ada);
    assertRefused(Status.Code.NOT_FOUND, keyed, addMember(UUID.randomUUID().toString()));

    String projectId = create(ada, "apollo");
    assertThat(call(keyed, addMember(projectId)).isReplayed()).isFalse();
  }

  @Test
  void aResourceOfAnotherUserIsNotFound() {
    String projectId = create(ada, "apollo");
    assertRefused(Status.Code.NOT_FOUND, grace, getProject(projectId));
    assertRefused(Status.Code.NOT_FOUND, grace, addMember(projectId));
  }

  @Test
  void theSameKeyInAnotherOrganizationIsAnotherOperation() {
    Metadata keyed = with("idempotency-key", UuidCreator.getTimeOrderedEpoch().toString(), ada);
    Reply<CreateProjectResponse> none = call(keyed, createProject("apollo"));
    Reply<CreateProjectResponse> nasa =
        call(with("organization", "nasa", keyed), createProject("apollo"));
    assertThat(nasa.isReplayed()).isFalse();
    assertThat(nasa.response().getProject().getId())
        .isNotEqualTo(none.response().getProject().getId());

    assertRefused(
        Status.Code.NOT_FOUND,
        with("organization", "esa", ada),
        getProject(nasa.response().getProject().getId()));
  }

  @Test
  void aMemberCannotBeAddedTwice() {
    Call<?, ?> addMember = addMember(create(ada, "apollo"));
    call(ada, addMember);
    assertRefused(Status.Code.ALREADY_EXISTS, ada, addMember);
  }

  private record Call<RequestT extends Message, ResponseT extends Message>(
      MethodDescriptor<RequestT, ResponseT> method, RequestT request) {}

  private static Call<CreateProjectRequest, CreateProjectResponse> createProject(String name) {
    return new Call<>(
        ProjectServiceGrpc.getCreateProjectMethod(),
        CreateProjectRequest.newBuilder().setName(name).build());
  }

  private static String create(Metadata caller, String name) {
    return call(caller, createProject(name)).response().getProject().getId();
  }

  private static Call<?, ?> addMember(String projectId) {
    return new Call<>(
        ProjectServiceGrpc.getAddProjectMemberMethod(),
        AddProjectMemberRequest.newBuilder()
            .setProjectId(projectId)
            .setUserId(UUID.randomUUID().toString())
            .setRole("viewer")
            .build());
  }

  private static Call<?, ?> getProject(String id) {
    return new Call<>(
        ProjectServiceGrpc.getGetProjectMethod(), GetProjectRequest.newBuilder().setId(id).build());
  }

  private static <RequestT extends Message, ResponseT extends Message> Reply<ResponseT> call(
      Metadata headers, Call<RequestT, ResponseT> call) {
    return example.client().call(headers, call.method(), call.request());
  }

  private static StatusRuntimeException assertRefused(
      Status.Code code, Metadata headers, Call<?, ?> call) {
    StatusRuntimeException refused =
        catchThrowableOfType(StatusRuntimeException.class, () -> call(headers, call));
    assertThat(refused).as("the refusal").isNotNull();
    assertThat(refused.getStatus().getCode()).isEqualTo(code);
    return refused;
  }
}
