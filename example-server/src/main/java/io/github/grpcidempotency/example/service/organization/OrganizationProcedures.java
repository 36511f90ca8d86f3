package io.github.grpcidempotency.example.service.organization;

import static io.github.grpcidempotency.example.organization.v1.APIKeyServiceGrpc.getCreateAPIKeyMethod;
import static io.github.grpcidempotency.example.organization.v1.APIKeyServiceGrpc.getRevokeAPIKeyMethod;
import static io.github.grpcidempotency.example.organization.v1.ClusterServiceGrpc.getAddInstallMethod;
import static io.github.grpcidempotency.example.organization.v1.ClusterServiceGrpc.getCreateClusterMethod;
import static io.github.grpcidempotency.example.organization.v1.ClusterServiceGrpc.getCreateNodePoolMethod;
import static io.github.grpcidempotency.example.organization.v1.InviteServiceGrpc.getInviteMemberMethod;
import static io.github.grpcidempotency.example.organization.v1.NamespaceServiceGrpc.getCreateNamespaceMethod;
import static io.github.grpcidempotency.example.organization.v1.NamespaceServiceGrpc.getDeleteNamespaceMethod;
import static io.github.grpcidempotency.example.organization.v1.ProjectServiceGrpc.getAddProjectMemberMethod;
import static io.github.grpcidempotency.example.organization.v1.ProjectServiceGrpc.getCreateProjectMethod;
import static io.github.grpcidempotency.example.service.tenant.Tables.API_KEYS;
import static io.github.grpcidempotency.example.service.tenant.Tables.INSTALLS;

import io.github.grpcidempotency.example.service.tenant.Tenant;
import io.github.grpcidempotency.key.KeySource;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.KeyPolicy;
import io.github.grpcidempotency.procedure.OutagePolicy;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.ProcedureBuilder;
import io.github.grpcidempotency.procedure.Procedures;
import io.github.grpcidempotency.procedure.ResponseProtection;
import io.github.grpcidempotency.resource.ResourceId;

/**
 * The procedures of the organisation API. Most methods are described in their {@code .proto}, with
 * the reasons, and only the status is added here; {@code docs/example.md} lists all of them in one
 * table. Two have more settings here:
 *
 * <ul>
 *   <li>{@code CreateAPIKey}, because encryption keys and a guard that queries the database need
 *       code.
 *   <li>{@code AddInstall}, to show a descriptor without an option.
 * </ul>
 */
public final class OrganizationProcedures {
  private OrganizationProcedures() {}

  /**
   * Returns the descriptors.
   *
   * @param tenant the database for the guard
   * @param secrets encrypts answers that contain a secret
   */
  public static Procedures of(Tenant tenant, ResponseProtection secrets) {
    return Procedures.of(
        withStatus(Procedure.annotated(getCreateProjectMethod())),
        withStatus(Procedure.annotated(getAddProjectMemberMethod())),
        withStatus(Procedure.annotated(getCreateClusterMethod())),
        withStatus(Procedure.annotated(getCreateNodePoolMethod())),
        withStatus(addInstall()),
        withStatus(Procedure.annotated(getCreateNamespaceMethod())),
        Procedure.annotated(getDeleteNamespaceMethod()).build(),
        withStatus(createApiKey(tenant, secrets)),
        withStatus(Procedure.annotated(getInviteMemberMethod())),
        Procedure.annotated(getRevokeAPIKeyMethod()).build());
  }

  private static Procedure withStatus(ProcedureBuilder<?> builder) {
    return builder.status(OutboxStatus.LATEST).build();
  }

  /**
   * A controller sends the same install repeatedly, to make sure that it exists. Each call extends
   * the life of its record.
   */
  private static ProcedureBuilder<?> addInstall() {
    return Procedure.of(getAddInstallMethod())
        .resource(INSTALLS.type(), response -> ResourceId.of(response.getInstall().getUid()))
        .keyFrom(KeySource.assignedId("install_id"))
        .retainFromLastReplay()
        .execution(Execution.RESERVED)
        .outage(OutagePolicy.FAIL_CLOSED);
  }

  /** Requires a key: without one, a token whose answer was lost could never be recovered. */
  private static ProcedureBuilder<?> createApiKey(Tenant tenant, ResponseProtection secrets) {
    return Procedure.of(getCreateAPIKeyMethod())
        .resource(API_KEYS.type(), response -> ResourceId.of(response.getApiKey().getId()))
        .keyPolicy(KeyPolicy.REQUIRED)
        .protect(secrets)
        .guard(new ApiKeyGuard(tenant))
        .execution(Execution.TRANSACTIONAL);
  }
}
