package io.github.grpcidempotency.example.organization;

import static io.github.grpcidempotency.example.organization.v1.APIKeyServiceGrpc.getCreateAPIKeyMethod;
import static io.github.grpcidempotency.example.organization.v1.ClusterServiceGrpc.getAddInstallMethod;
import static io.github.grpcidempotency.example.organization.v1.ClusterServiceGrpc.getCreateClusterMethod;
import static io.github.grpcidempotency.example.organization.v1.ClusterServiceGrpc.getCreateNodePoolMethod;
import static io.github.grpcidempotency.example.organization.v1.InviteServiceGrpc.getInviteMemberMethod;
import static io.github.grpcidempotency.example.organization.v1.NamespaceServiceGrpc.getCreateNamespaceMethod;
import static io.github.grpcidempotency.example.organization.v1.ProjectServiceGrpc.getAddProjectMemberMethod;
import static io.github.grpcidempotency.example.organization.v1.ProjectServiceGrpc.getCreateProjectMethod;
import static io.github.grpcidempotency.example.tenant.Resources.API_KEY;
import static io.github.grpcidempotency.example.tenant.Resources.CLUSTER;
import static io.github.grpcidempotency.example.tenant.Resources.INSTALL;
import static io.github.grpcidempotency.example.tenant.Resources.INVITE;
import static io.github.grpcidempotency.example.tenant.Resources.NAMESPACE;
import static io.github.grpcidempotency.example.tenant.Resources.NODE_POOL;
import static io.github.grpcidempotency.example.tenant.Resources.PROJECT;
import static io.github.grpcidempotency.example.tenant.Resources.PROJECT_MEMBER;
import static io.github.grpcidempotency.procedure.Execution.RESERVED_SAME_DATABASE;
import static io.github.grpcidempotency.procedure.Execution.TRANSACTIONAL;

import com.google.protobuf.Message;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.ProcedureBuilder;
import io.github.grpcidempotency.procedure.Procedures;
import io.github.grpcidempotency.procedure.ResourceType;
import io.grpc.MethodDescriptor;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;

/**
 * Which creates are safe to retry, and what each of them creates. The first four say it in their
 * {@code .proto}, and only the outbox is named here; the last four say it here.
 *
 * <p>How they run, and why:
 *
 * <ul>
 *   <li>{@code CreateProject}, {@code AddProjectMember}, {@code CreateNamespace}, {@code
 *       CreateAPIKey} and {@code InviteMember} are transactional: they only write rows, so effect
 *       and record can be one commit, which is the strongest and the cheapest.
 *   <li>{@code CreateCluster} is reserved: it asks a cloud provider first, and a transaction must
 *       not stay open meanwhile. Its duplicates wait for it, and its last transaction completes the
 *       claim.
 *   <li>{@code CreateNodePool} and {@code AddInstall} are reserved as well and know nothing of it,
 *       to show what a handler gets that is not changed at all; their rows are in the same
 *       database.
 * </ul>
 */
public final class OrganizationProcedures {
  private final Optional<Duration> retention;

  private OrganizationProcedures(Optional<Duration> retention) {
    this.retention = retention;
  }

  /**
   * Returns the descriptors.
   *
   * @param retention how long records answer retries; empty for what each procedure says itself
   */
  public static Procedures of(Optional<Duration> retention) {
    return new OrganizationProcedures(retention).table();
  }

  private Procedures table() {
    return Procedures.of(
        inProto(getCreateProjectMethod(), PROJECT),
        inProto(getAddProjectMemberMethod(), PROJECT_MEMBER),
        inProto(getCreateClusterMethod(), CLUSTER),
        inProto(getCreateNodePoolMethod(), NODE_POOL),
        inJava(
            getAddInstallMethod(),
            INSTALL,
            RESERVED_SAME_DATABASE,
            response -> response.getInstall().getId()),
        inJava(
            getCreateNamespaceMethod(),
            NAMESPACE,
            TRANSACTIONAL,
            response -> response.getNamespace().getId()),
        inJava(
            getCreateAPIKeyMethod(),
            API_KEY,
            TRANSACTIONAL,
            response -> response.getApiKey().getId()),
        inJava(
            getInviteMemberMethod(),
            INVITE,
            TRANSACTIONAL,
            response -> response.getInvite().getId()));
  }

  private <ResponseT extends Message> Procedure inProto(
      MethodDescriptor<? extends Message, ResponseT> method, ResourceType type) {
    return finish(Procedure.annotated(method), type);
  }

  private <ResponseT extends Message> Procedure inJava(
      MethodDescriptor<? extends Message, ResponseT> method,
      ResourceType type,
      Execution execution,
      Function<ResponseT, String> id) {
    return finish(
        Procedure.of(method)
            .resource(type, response -> UUID.fromString(id.apply(response)))
            .execution(execution),
        type);
  }

  private Procedure finish(ProcedureBuilder<?> described, ResourceType type) {
    retention.ifPresent(described::retention);
    return described.status(OutboxStatus.of(type)).build();
  }
}
