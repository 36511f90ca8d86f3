package io.github.grpcidempotency.internal.runtime;

import io.github.grpcidempotency.procedure.IdempotencyStatus;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.StatusResolver;
import io.github.grpcidempotency.store.ClaimResult;
import java.util.Objects;
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
   * there is no asynchronous work, or the record refers to no resource. A reference is cleared when
   * its resource is deleted, and never set again, so this status is final.
   *
   * @param unknown gets what the resolver throws
   */
  public static IdempotencyStatus of(
      Procedure procedure, ClaimResult.Recorded recorded, Consumer<RuntimeException> unknown) {
    return recorded
        .outcome()
        .resourceId()
        .map(
            resource -> recorded.status().orElseGet(() -> ofResource(procedure, resource, unknown)))
        .orElse(IdempotencyStatus.COMPLETED);
  }

  /** Returns whether a resolver of the service's own is called for the status of a record. */
  public static boolean asksService(Procedure procedure, ClaimResult.Recorded recorded) {
    return asksService(procedure)
        && recorded.status().isEmpty()
        && recorded.outcome().resourceId().isPresent();
  }

  /** Returns whether the store cannot read the status of a procedure's resources itself. */
  static boolean asksService(Procedure procedure) {
    return procedure.statusResolver().filter(resolver -> !resolver.isReadByStore()).isPresent();
  }

  /** Returns the status of a resource from the procedure's resolver. Never throws. */
  static IdempotencyStatus ofResource(
      Procedure procedure, UUID resource, Consumer<RuntimeException> unknown) {
    return procedure
        .statusResolver()
        .map(resolver -> resolve(procedure, resolver, resource, unknown))
        .orElse(IdempotencyStatus.COMPLETED);
  }

  private static IdempotencyStatus resolve(
      Procedure procedure,
      StatusResolver resolver,
      UUID resource,
      Consumer<RuntimeException> unknown) {
    try {
      return Objects.requireNonNull(
          resolver.resolve(resource),
          () -> procedure.name() + ": its status resolver returned null");
    } catch (RuntimeException failed) {
      unknown.accept(failed);
      return IdempotencyStatus.PROCESSING;
    }
  }
}
