package io.github.grpcidempotency.internal.runtime;

import io.github.grpcidempotency.procedure.IdempotencyStatus;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.StatusResolver;
import io.github.grpcidempotency.store.ClaimResult;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** How far the work behind an answer has come. */
public final class ReplayStatus {
  private static final Logger logger = LoggerFactory.getLogger(ReplayStatus.class);

  private ReplayStatus() {}

  /**
   * Returns the status for the first answer: the work behind it, if there is any, has only begun.
   */
  public static IdempotencyStatus first(Procedure procedure) {
    return procedure.statusResolver().isPresent()
        ? IdempotencyStatus.PROCESSING
        : IdempotencyStatus.COMPLETED;
  }

  /**
   * Returns the status of a recorded answer, from the store or else from the procedure's resolver.
   * Never throws: the status is {@code processing} if it is not known, and {@code completed} if
   * there is no asynchronous work, or a deleted resource is gone.
   */
  public static IdempotencyStatus of(Procedure procedure, ClaimResult.Recorded recorded) {
    if (procedure.deletes() && recorded.outcome().resourceId().isEmpty()) {
      return IdempotencyStatus.COMPLETED;
    }
    return recorded
        .status()
        .orElseGet(
            () ->
                recorded
                    .outcome()
                    .resourceId()
                    .map(resource -> ofResource(procedure, resource))
                    .orElseGet(() -> first(procedure)));
  }

  /** Returns the status of a resource from the procedure's resolver. Never throws. */
  static IdempotencyStatus ofResource(Procedure procedure, UUID resource) {
    return procedure
        .statusResolver()
        .map(resolver -> resolve(procedure, resolver, resource))
        .orElse(IdempotencyStatus.COMPLETED);
  }

  private static IdempotencyStatus resolve(
      Procedure procedure, StatusResolver resolver, UUID resource) {
    try {
      return resolver.resolve(resource);
    } catch (RuntimeException failed) {
      logger.warn(
          "the status of {} could not be resolved; it is reported as processing",
          procedure.name(),
          failed);
      return IdempotencyStatus.PROCESSING;
    }
  }
}
