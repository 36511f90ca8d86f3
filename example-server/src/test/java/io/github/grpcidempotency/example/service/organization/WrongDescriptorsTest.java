package io.github.grpcidempotency.example.service.organization;

import static io.github.grpcidempotency.example.organization.v1.APIKeyServiceGrpc.getCreateAPIKeyMethod;
import static io.github.grpcidempotency.example.organization.v1.ClusterServiceGrpc.getAddInstallMethod;
import static io.github.grpcidempotency.example.organization.v1.ClusterServiceGrpc.getGetClusterMethod;
import static io.github.grpcidempotency.example.organization.v1.InviteServiceGrpc.getInviteMemberMethod;
import static io.github.grpcidempotency.example.organization.v1.NamespaceServiceGrpc.getCreateNamespaceMethod;
import static io.github.grpcidempotency.example.organization.v1.ProjectServiceGrpc.getCreateProjectMethod;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.grpcidempotency.key.Fingerprinter;
import io.github.grpcidempotency.key.KeySource;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.KeyPolicy;
import io.github.grpcidempotency.procedure.OutagePolicy;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.Procedures;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The problems that the example's descriptors would have if they were written with less care. */
class WrongDescriptorsTest {
  @Test
  void allThatIsWrongWithDescriptorsIsListedAtOnce() {
    assertThat(
            Procedures.of(
                    Procedure.of(getAddInstallMethod())
                        .execution(Execution.RESERVED)
                        .keyFrom(KeySource.assignedId("install.id"))
                        .build(),
                    Procedure.of(getInviteMemberMethod())
                        .execution(Execution.RESERVED)
                        .keyFrom(KeySource.content("e_mail"))
                        .omit("link")
                        .build(),
                    Procedure.of(getCreateNamespaceMethod())
                        .execution(Execution.RESERVED)
                        .fingerprint(Fingerprinter.wholeRequest().ignoringSince(1, "time"))
                        .build(),
                    Procedure.of(getGetClusterMethod()).execution(Execution.RESERVED).build(),
                    Procedure.of(getCreateAPIKeyMethod())
                        .execution(Execution.RESERVED)
                        .keyPolicy(KeyPolicy.DERIVED)
                        .build(),
                    Procedure.of(getCreateProjectMethod())
                        .execution(Execution.TRANSACTIONAL)
                        .outage(OutagePolicy.FAIL_OPEN)
                        .retention(Duration.ZERO)
                        .build())
                .problems())
        .containsExactly(
            "organization.v1.ClusterService/AddInstall: its key: \"install.id\" is not a"
                + " singular string field of organization.v1.AddInstallRequest",
            "organization.v1.InviteService/InviteMember: its key: \"e_mail\" is not a field"
                + " of organization.v1.InviteMemberRequest",
            "organization.v1.InviteService/InviteMember: it omits \"link\", which is not a"
                + " field of organization.v1.InviteMemberResponse",
            "organization.v1.NamespaceService/CreateNamespace: the fingerprint ignores"
                + " \"time\", which is not a field of organization.v1.CreateNamespaceRequest",
            "organization.v1.ClusterService/GetCluster: it has NO_SIDE_EFFECTS, so there is"
                + " nothing to make idempotent",
            "organization.v1.APIKeyService/CreateAPIKey: its key is derived, but from where"
                + " is not said",
            "organization.v1.ProjectService/CreateProject: its retention must be positive,"
                + " it is PT0S",
            "organization.v1.ProjectService/CreateProject: it is transactional, so it cannot"
                + " run without its database: fail closed");
  }
}
