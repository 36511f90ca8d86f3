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
import static io.github.grpcidempotency.example.organization.v1.ProjectServiceGrpc.getImportMembersMethod;
import static io.github.grpcidempotency.example.organization.v1.WebhookServiceGrpc.getIngestMethod;
import static io.github.grpcidempotency.example.organization.v1.WebhookServiceGrpc.getRegisterWebhookMethod;
import static io.github.grpcidempotency.example.service.tenant.Tables.API_KEYS;
import static io.github.grpcidempotency.example.service.tenant.Tables.INSTALLS;

import io.github.grpcidempotency.example.service.tenant.Namespaces;
import io.github.grpcidempotency.example.service.tenant.Tenant;
import io.github.grpcidempotency.key.KeySource;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.KeyPolicy;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.ProcedureBuilder;
import io.github.grpcidempotency.procedure.Procedures;
import io.github.grpcidempotency.procedure.ResponseProtection;
import io.grpc.MethodDescriptor;
import java.time.Duration;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The procedures of the organisation API. Most methods are described in their {@code .proto}, with
 * the reason beside it, and only the outbox is added here; {@code docs/example.md} has them all in
 * one table. Four have more settings here:
 *
 * <ul>
 *   <li>{@code CreateAPIKey}, because encryption keys and a guard that queries the database need
 *       code.
 *   <li>{@code AddInstall}, to show that a descriptor does not need an option.
 *   <li>{@code Ingest}, for the source of its key: the owner of the webhook has to be looked up.
 *   <li>{@code DeleteNamespace}, for finding out what was deleted before.
 * </ul>
 *
 * <p>How they run: methods that only write rows are transactional, which is the strongest and
 * cheapest execution. {@code CreateCluster} is reserved, because it buys a machine first and a
 * transaction must not stay open meanwhile; its last transaction completes the claim. {@code
 * CreateNodePool} and {@code AddInstall} are reserved as well, with unchanged handlers, to show
 * what such handlers get; their rows are in the same database.
 */
public final class OrganizationProcedures {
  private final Tenant tenant;
  private final Retentions retentions;
  private final ResponseProtection secrets;
  private final KeySource webhookKeys;

  private OrganizationProcedures(
      Tenant tenant, Retentions retentions, ResponseProtection secrets, KeySource webhookKeys) {
    this.tenant = tenant;
    this.retentions = retentions;
    this.secrets = secrets;
    this.webhookKeys = webhookKeys;
  }

  /**
   * Returns the descriptors.
   *
   * @param tenant the database for the guard
   * @param retentions how long records answer retries, if not as described
   * @param secrets protects answers that contain a secret
   * @param webhookKeys finds the key of a webhook's delivery, and its owner
   */
  public static Procedures of(
      Tenant tenant, Retentions retentions, ResponseProtection secrets, KeySource webhookKeys) {
    return new OrganizationProcedures(tenant, retentions, secrets, webhookKeys).table();
  }

  /** Returns the bare names of the methods that keep records. */
  public static Set<String> methods() {
    return Stream.of(
            getCreateProjectMethod(),
            getAddProjectMemberMethod(),
            getCreateClusterMethod(),
            getCreateNodePoolMethod(),
            getAddInstallMethod(),
            getCreateNamespaceMethod(),
            getDeleteNamespaceMethod(),
            getCreateAPIKeyMethod(),
            getInviteMemberMethod(),
            getRegisterWebhookMethod(),
            getIngestMethod())
        .map(MethodDescriptor::getBareMethodName)
        .collect(Collectors.toUnmodifiableSet());
  }

  private Procedures table() {
    return Procedures.of(
        finish(Procedure.annotated(getCreateProjectMethod())),
        finish(Procedure.annotated(getAddProjectMemberMethod())),
        finish(Procedure.annotated(getCreateClusterMethod())),
        finish(Procedure.annotated(getCreateNodePoolMethod())),
        finish(addInstall()),
        finish(Procedure.annotated(getCreateNamespaceMethod())),
        finish(deleteNamespace()),
        finish(createApiKey()),
        finish(Procedure.annotated(getInviteMemberMethod(), Retentions.CLASSES)),
        finish(Procedure.annotated(getRegisterWebhookMethod())),
        finish(Procedure.annotated(getIngestMethod()).keyFrom(webhookKeys)),
        Procedure.annotated(getRevokeAPIKeyMethod()).build(),
        Procedure.annotated(getImportMembersMethod()).build());
  }

  /**
   * A controller sends the same install again and again, to make sure that it exists. Its record
   * lives for as long as the controller does so.
   */
  private static ProcedureBuilder<?> addInstall() {
    return Procedure.of(getAddInstallMethod())
        .resource(INSTALLS.type(), response -> UUID.fromString(response.getInstall().getUid()))
        .keyFrom(KeySource.assignedId("install_id"))
        .retainFromLastReplay()
        .execution(Execution.RESERVED_SAME_DATABASE);
  }

  /** Requires a key: without one, a token whose answer was lost could never be recovered. */
  private ProcedureBuilder<?> createApiKey() {
    return Procedure.of(getCreateAPIKeyMethod())
        .resource(API_KEYS.type(), response -> UUID.fromString(response.getApiKey().getId()))
        .keyPolicy(KeyPolicy.REQUIRED)
        .protect(secrets)
        .guard(new ApiKeyGuard(tenant))
        .execution(Execution.TRANSACTIONAL);
  }

  /** Uses the handler's own transaction, because another connection could be the pool's last. */
  private ProcedureBuilder<?> deleteNamespace() {
    return Procedure.annotated(getDeleteNamespaceMethod())
        .pastResources(
            (caller, id) -> tenant.withinClaim(handle -> Namespaces.wasDeleted(handle, id)));
  }

  private Procedure finish(ProcedureBuilder<?> builder) {
    Procedure described = builder.build();
    String method = described.method().map(MethodDescriptor::getBareMethodName).orElseThrow();
    Duration own = described.retention();
    described
        .resourceType()
        .filter(type -> !described.deletes()) // what is deleted is deleted at once
        .map(OutboxStatus::of)
        .ifPresent(builder::status);
    return builder.retention(() -> retentions.of(method).orElse(own)).build();
  }
}
