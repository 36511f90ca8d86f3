package io.github.grpcidempotency.internal.record;

import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import io.github.grpcidempotency.event.RefusalReason;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.key.internal.FieldPath;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.internal.ServiceFunction;
import io.github.grpcidempotency.resource.IdempotencyStatus;
import io.github.grpcidempotency.resource.ResourceId;
import io.github.grpcidempotency.resource.StatusResolver;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.RecordedOutcome;
import io.github.grpcidempotency.store.StoreException;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.BiPredicate;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** The answer to the current call that results from a record. */
public sealed interface Replay {
  /** Returns the response, or the error in the form in which it was recorded. */
  ByteString bytes();

  /**
   * A response.
   *
   * @param status the status of the asynchronous work; empty if it can never be read
   * @param reconstructed whether the response was rebuilt from its resource
   */
  record Response(
      ByteString bytes,
      Optional<IdempotencyStatus> status,
      Set<String> omitted,
      boolean reconstructed)
      implements Replay {}

  /** A terminal error. */
  record Failure(ByteString bytes) implements Replay {}

  /**
   * Returns the answer of a record: calls the procedure's guard, and then decrypts the answer, or
   * rebuilds it from its resource.
   *
   * @param statusUnknown receives the exception of the status resolver; empty if the store has
   *     logged it
   */
  static Replay of(
      Procedure procedure,
      IdempotencyKey key,
      ClaimResult.Recorded recorded,
      Consumer<Optional<Throwable>> statusUnknown) {
    return read(procedure, key, recorded, () -> status(procedure, recorded, statusUnknown));
  }

  /** Returns the answer of a record as the other method does, but does not read its status. */
  static Replay withoutStatus(
      Procedure procedure, IdempotencyKey key, ClaimResult.Recorded recorded) {
    return read(procedure, key, recorded, Optional::empty);
  }

  /**
   * Calls the procedure's guard. If the guard throws, the replay is denied. If the guard throws a
   * {@code StoreException}, the client may retry.
   */
  private static void checkGuard(
      Procedure procedure, Caller caller, ClaimResult.Recorded recorded) {
    Optional<BiPredicate<Caller, Optional<ResourceId>>> guard = procedure.replayGuard();
    if (guard.isPresent()
        && !ServiceFunction.call(
            () -> guard.get().test(caller, recorded.outcome().resourceId()), Replay::undecided)) {
      throw RefusedException.of(RefusalReason.REPLAY_DENIED);
    }
  }

  private static boolean undecided(Throwable thrown) {
    throw thrown instanceof StoreException
        ? RefusedException.temporary(thrown)
        : RefusedException.of(RefusalReason.REPLAY_DENIED, thrown);
  }

  private static Replay read(
      Procedure procedure,
      IdempotencyKey key,
      ClaimResult.Recorded recorded,
      Supplier<Optional<IdempotencyStatus>> status) {
    checkGuard(procedure, key.caller(), recorded);
    RecordSeal seal = new RecordSeal(key, procedure);
    RecordedOutcome outcome = recorded.outcome();
    if (outcome instanceof RecordedOutcome.Failure failure) {
      return new Failure(seal.open(failure.bytes()));
    }
    boolean rebuilt = outcome instanceof RecordedOutcome.Reference;
    ByteString bytes =
        outcome instanceof RecordedOutcome.Response response
            ? seal.open(response.bytes())
            : rebuild(procedure, key.caller(), outcome.resourceId());
    return new Response(bytes, status.get(), procedure.omittedFields(), rebuilt);
  }

  private static ByteString rebuild(
      Procedure procedure, Caller caller, Optional<ResourceId> resource) {
    BiFunction<Caller, ResourceId, ? extends Optional<? extends Message>> rebuilder =
        procedure
            .responseRebuilder()
            .orElseThrow(() -> RefusedException.of(RefusalReason.ANSWER_TOO_LARGE));
    return resource
        .<Message>flatMap(
            id ->
                ServiceFunction.call(
                    () ->
                        Objects.requireNonNull(
                            rebuilder.apply(caller, id),
                            () -> procedure.name() + ": its rebuilder returned null"),
                    failure -> {
                      throw RefusedException.temporary(failure);
                    }))
        .map(message -> FieldPath.without(message, procedure.omittedFields()).toByteString())
        .orElseThrow(() -> RefusedException.of(RefusalReason.RESOURCE_GONE));
  }

  /**
   * Returns the status for the first answer: {@code processing} if there is asynchronous work,
   * otherwise {@code completed}. Empty if there is such work but the record refers to no resource.
   */
  static Optional<IdempotencyStatus> firstStatus(Procedure procedure, boolean refers) {
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
  static Optional<IdempotencyStatus> status(
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
    if (!(procedure.statusSource().orElseThrow() instanceof StatusResolver resolver)) {
      unknown.accept(Optional.empty());
      return IdempotencyStatus.PROCESSING;
    }
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
