package io.github.grpcidempotency.internal.runtime;

import io.github.grpcidempotency.procedure.IdempotencyStatus;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.StatusResolver;
import io.github.grpcidempotency.store.ClaimResult;
import java.util.UUID;
import java.util.function.Consumer;

/** How far the work behind an answer has come. */
public final class ReplayStatus {
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
   *
   * @param unknown gets what the resolver throws
   */
  public static IdempotencyStatus of(
      Procedure procedure, ClaimResult.Recorded recorded, Consumer<RuntimeException> unknown) {
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
                    .map(resource -> ofResource(procedure, resource, unknown))
                    .orElseGet(() -> first(procedure)));
  }

  /** Returns the status of a resource from the procedure's resolver. Never throws. */
  static IdempotencyStatus ofResource(
      Procedure procedure, UUID resource, Consumer<RuntimeException> unknown) {
    return procedure
        .statusResolver()
        .map(resolver -> resolve(resolver, resource, unknown))
        .orElse(IdempotencyStatus.COMPLETED);
  }

  private static IdempotencyStatus resolve(
      StatusResolver resolver, UUID resource, Consumer<RuntimeException> unknown) {
    try {
      return resolver.resolve(resource);
    } catch (RuntimeException failed) {
      unknown.accept(failed);
      return IdempotencyStatus.PROCESSING;
    }
  }
}
