package io.github.grpcidempotency.internal.record;

import io.github.grpcidempotency.procedure.IdempotencyStatus;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.StatusResolver;
import io.github.grpcidempotency.store.ClaimResult;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Consumer;

/** Reads the status of the asynchronous work behind an answer. */
public final class ReplayStatus {
  private ReplayStatus() {}

  /**
   * Returns the status for the first answer: {@code processing} if there is asynchronous work,
   * otherwise {@code completed}. Empty if there is a resolver but the record refers to no resource.
   *
   * @param refers whether the record refers to a resource
   */
  public static Optional<IdempotencyStatus> first(Procedure procedure, boolean refers) {
    if (procedure.statusResolver().isEmpty()) {
      return Optional.of(IdempotencyStatus.COMPLETED);
    }
    return refers ? Optional.of(IdempotencyStatus.PROCESSING) : Optional.empty();
  }

  /**
   * Returns the status of a recorded answer, from the store or else from the procedure's resolver.
   * Never throws: the status is {@code processing} if the resolver throws, and {@code completed} if
   * there is no asynchronous work. Empty if the record has never referred to a resource, so that
   * the resolver cannot be called.
   *
   * @param unknown receives the exception of the resolver; empty if the store has logged it
   */
  public static Optional<IdempotencyStatus> of(
      Procedure procedure,
      ClaimResult.Recorded recorded,
      Consumer<Optional<RuntimeException>> unknown) {
    if (procedure.statusResolver().isEmpty()) {
      return Optional.of(IdempotencyStatus.COMPLETED);
    }
    return recorded
        .status()
        .or(
            () ->
                recorded
                    .outcome()
                    .resourceId()
                    .map(resource -> ofResource(procedure, resource, unknown)));
  }

  /** Returns whether a resolver of the service is called for the status of a record. */
  public static boolean asksService(Procedure procedure, ClaimResult.Recorded recorded) {
    return asksService(procedure)
        && recorded.status().isEmpty()
        && recorded.outcome().resourceId().isPresent();
  }

  /**
   * Returns whether a resolver of the service is called, because the store cannot read the status
   * of a procedure's resources itself.
   */
  public static boolean asksService(Procedure procedure) {
    return procedure.statusResolver().filter(resolver -> !resolver.isReadByStore()).isPresent();
  }

  /** Returns the status of a resource from the procedure's resolver. Never throws. */
  public static IdempotencyStatus ofResource(
      Procedure procedure, UUID resource, Consumer<Optional<RuntimeException>> unknown) {
    return procedure
        .statusResolver()
        .map(resolver -> resolve(procedure, resolver, resource, unknown))
        .orElse(IdempotencyStatus.COMPLETED);
  }

  private static IdempotencyStatus resolve(
      Procedure procedure,
      StatusResolver resolver,
      UUID resource,
      Consumer<Optional<RuntimeException>> unknown) {
    if (resolver.isReadByStore()) {
      unknown.accept(Optional.empty());
      return IdempotencyStatus.PROCESSING;
    }
    try {
      return Objects.requireNonNull(
          resolver.resolve(resource),
          () -> procedure.name() + ": its status resolver returned null");
    } catch (RuntimeException failed) {
      unknown.accept(Optional.of(failed));
      return IdempotencyStatus.PROCESSING;
    }
  }
}
