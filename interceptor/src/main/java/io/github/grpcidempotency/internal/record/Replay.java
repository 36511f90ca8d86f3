package io.github.grpcidempotency.internal.record;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.event.RefusalReason;
import io.github.grpcidempotency.internal.decision.Refusal;
import io.github.grpcidempotency.internal.field.FieldPath;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.procedure.IdempotencyStatus;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.ReplayGuard;
import io.github.grpcidempotency.procedure.ResponseRebuilder;
import io.github.grpcidempotency.store.ClaimResult;
import io.github.grpcidempotency.store.RecordedOutcome;
import io.github.grpcidempotency.store.StoreException;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

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
      Consumer<Optional<RuntimeException>> statusUnknown) {
    checkGuard(procedure, key.caller(), recorded);
    try {
      return recorded.outcome().accept(new Reader(procedure, key, recorded, statusUnknown));
    } catch (RefusedException refused) {
      throw refused;
    } catch (StoreException unreachable) {
      throw unavailable(unreachable);
    } catch (RuntimeException failure) {
      throw unreadable(failure);
    }
  }

  /** Returns the refusal of an answer that cannot be read. It stays recorded. */
  static RefusedException unreadable(Exception why) {
    return new RefusedException(
        Refusal.of(RefusalReason.IDEMPOTENCY_RECORD_UNREADABLE), Optional.of(why));
  }

  private static RefusedException unavailable(StoreException why) {
    return new RefusedException(Refusal.storeUnavailable(why.failureCause()), Optional.of(why));
  }

  /**
   * Calls the procedure's guard. If the guard throws, the replay is denied. If the guard throws a
   * {@code StoreException}, the client may retry.
   */
  private static void checkGuard(
      Procedure procedure, Caller caller, ClaimResult.Recorded recorded) {
    Optional<ReplayGuard> guard = procedure.replayGuard();
    boolean allowed;
    try {
      allowed = guard.isEmpty() || guard.get().mayReplay(caller, recorded.outcome().resourceId());
    } catch (StoreException unreachable) {
      throw unavailable(unreachable);
    } catch (RuntimeException undecided) {
      throw new RefusedException(
          Refusal.of(RefusalReason.IDEMPOTENCY_REPLAY_DENIED), Optional.of(undecided));
    }
    if (!allowed) {
      throw new RefusedException(Refusal.of(RefusalReason.IDEMPOTENCY_REPLAY_DENIED));
    }
  }

  /** Reads a recorded outcome. */
  record Reader(
      Procedure procedure,
      IdempotencyKey key,
      ClaimResult.Recorded recorded,
      Consumer<Optional<RuntimeException>> statusUnknown)
      implements RecordedOutcome.Visitor<Replay> {
    @Override
    public Replay response(RecordedOutcome.Response response) {
      return response(new RecordSeal(key, procedure).open(response.bytes()), false);
    }

    @Override
    public Replay reference(RecordedOutcome.Reference reference) {
      ResponseRebuilder rebuilder =
          procedure
              .responseRebuilder()
              .orElseThrow(
                  () ->
                      new RefusedException(Refusal.of(RefusalReason.IDEMPOTENCY_ANSWER_TOO_LARGE)));
      return reference
          .resourceId()
          .flatMap(
              resource ->
                  Objects.requireNonNull(
                      rebuilder.rebuild(key.caller(), resource),
                      () -> procedure.name() + ": its rebuilder returned null"))
          .map(
              message ->
                  response(
                      FieldPath.without(message, procedure.omittedFields()).toByteString(), true))
          .orElseThrow(
              () -> new RefusedException(Refusal.of(RefusalReason.IDEMPOTENCY_RESOURCE_GONE)));
    }

    private Replay response(ByteString bytes, boolean reconstructed) {
      return new Response(
          bytes,
          ReplayStatus.of(procedure, recorded, statusUnknown),
          procedure.omittedFields(),
          reconstructed);
    }

    @Override
    public Replay failure(RecordedOutcome.Failure failure) {
      return new Failure(new RecordSeal(key, procedure).open(failure.bytes()));
    }
  }
}
