package io.github.grpcidempotency.internal.record;

import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.internal.ServiceFunction;
import io.github.grpcidempotency.resource.IdempotencyStatus;
import io.github.grpcidempotency.resource.ResourceId;
import io.github.grpcidempotency.resource.StatusResolver;
import io.github.grpcidempotency.spi.ClaimResult;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;

/** Reads the status of the asynchronous work behind an answer. */
public final class ReplayStatus {
  private ReplayStatus() {}

  /**
   * Returns the status for the first answer: {@code processing} if there is asynchronous work,
   * otherwise {@code completed}. Empty if there is such work but the record refers to no resource.
   */
  public static Optional<IdempotencyStatus> first(Procedure procedure, boolean refers) {
    if (procedure.statusSource().isEmpty()) {
      return Optional.of(IdempotencyStatus.COMPLETED);
    }
    return refers ? Optional.of(IdempotencyStatus.PROCESSING) : Optional.empty();
  }

  /**
   * Returns the status of a recorded answer, from the store or else from the procedure's resolver.
   * Never throws: the status is {@code processing} if it cannot be read, and {@code completed} if
   * there is no asynchronous work. Empty if the record has never referred to a resource.
   *
   * @param unknown called if the status cannot be read, with the exception of the resolver; empty
   *     if the store should have read it, and has logged the reason
   */
  public static Optional<IdempotencyStatus> of(
      Procedure procedure, ClaimResult.Recorded recorded, Consumer<Optional<Throwable>> unknown) {
    if (procedure.statusSource().isEmpty()) {
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

  private static IdempotencyStatus ofResource(
      Procedure procedure, ResourceId resource, Consumer<Optional<Throwable>> unknown) {
    if (procedure.statusSource().orElseThrow() instanceof StatusResolver resolver) {
      return resolve(procedure, resolver, resource, unknown);
    }
    unknown.accept(Optional.empty());
    return IdempotencyStatus.PROCESSING;
  }

  private static IdempotencyStatus resolve(
      Procedure procedure,
      StatusResolver resolver,
      ResourceId resource,
      Consumer<Optional<Throwable>> unknown) {
    return ServiceFunction.call(
        () ->
            Objects.requireNonNull(
                resolver.resolve(resource),
                () -> procedure.name() + ": its status resolver returned null"),
        failed -> {
          unknown.accept(Optional.of(failed));
          return IdempotencyStatus.PROCESSING;
        });
  }
}
