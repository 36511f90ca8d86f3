package io.github.grpcidempotency.benchmarks.service;

import io.github.grpcidempotency.benchmarks.v1.CreateProjectRequest;
import io.github.grpcidempotency.benchmarks.v1.Project;
import io.github.grpcidempotency.key.Fingerprint;
import io.github.grpcidempotency.key.Fingerprinter;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.ProcedureBuilder;
import io.github.grpcidempotency.procedure.Procedures;
import io.github.grpcidempotency.resource.IdempotencyStatus;
import io.github.grpcidempotency.resource.OutboxQuery;
import io.github.grpcidempotency.resource.ResourceId;
import io.github.grpcidempotency.resource.ResourceType;
import java.util.Arrays;

/** The variants' descriptors, as a service would write them. */
public final class ProcedureOf {
  private static final OutboxQuery OUTBOX =
      OutboxQuery.of(
              "SELECT status FROM app.outbox WHERE project_id = :resource_id ORDER BY id DESC LIMIT"
                  + " 1")
          .map(IdempotencyStatus.PROCESSING, "pending")
          .map(IdempotencyStatus.COMPLETED, "done")
          .build();

  /** The fingerprint of the request that all recorded answers belong to. */
  public static final Fingerprint FINGERPRINT =
      Fingerprinter.wholeRequest().fingerprint(CreateProjectRequest.getDefaultInstance());

  private ProcedureOf() {}

  /** Returns the descriptors of all variants that the library executes. */
  static Procedures everyVariant() {
    return Procedures.of(
        Arrays.stream(Variant.values())
            .filter(variant -> variant.execution().isPresent())
            .map(ProcedureOf::variant)
            .toArray(Procedure[]::new));
  }

  /** Returns a variant's descriptor. */
  public static Procedure variant(Variant variant) {
    Execution execution = variant.execution().orElseThrow();
    ProcedureBuilder<Project> described =
        Procedure.of(variant.method())
            .execution(execution)
            .resource(ResourceType.of("project"), project -> ResourceId.of(project.getId()))
            .status(OUTBOX);
    if (variant == Variant.AT_COMMIT) {
      described.claimAtCommit();
    }
    return described.build();
  }
}
