package io.github.grpcidempotency.internal.runtime;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.internal.decision.Refusal;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.procedure.IdempotencyStatus;
import io.github.grpcidempotency.procedure.Procedure;
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

  /**
   * Acts on a replay. The compiler checks that every actor handles every kind.
   *
   * @param <X> the exception that the actor may throw
   */
  interface Actor<X extends Exception> {
    void response(Response response) throws X;

    void failure(ByteString error) throws X;

    void refused(Refused refused) throws X;
  }

  /** Calls the actor's method for this kind of replay. */
  <X extends Exception> void accept(Actor<X> actor) throws X;

  /**
   * A response.
   *
   * @param bytes the message
   * @param status the status of the asynchronous work; empty if it can never be read
   * @param omitted the fields that were not recorded
   * @param reconstructed whether the response was rebuilt from its resource
   */
  record Response(
      ByteString bytes,
      Optional<IdempotencyStatus> status,
      Set<String> omitted,
      boolean reconstructed)
      implements Replay {
    @Override
    public <X extends Exception> void accept(Actor<X> actor) throws X {
      actor.response(this);
    }
  }

  /**
   * A terminal error.
   *
   * @param bytes the error, in the form in which it was recorded
   */
  record Failure(ByteString bytes) implements Replay {
    @Override
    public <X extends Exception> void accept(Actor<X> actor) throws X {
      actor.failure(bytes);
    }
  }

  /**
   * No answer.
   *
   * @param refusal the error for the caller
   * @param why the failure that caused it, if there is one
   */
  record Refused(Refusal refusal, Optional<Exception> why) implements Replay {
    private static Refused of(Refusal refusal) {
      return new Refused(refusal, Optional.empty());
    }

    @Override
    public <X extends Exception> void accept(Actor<X> actor) throws X {
      actor.refused(this);
    }
  }

  /**
   * Returns the answer of a record: calls the procedure's guard, and then decrypts the answer, or
   * rebuilds it from its resource. Never throws.
   *
   * @param statusUnknown called if the status cannot be read, with the exception of the resolver if
   *     there is one
   */
  static Replay of(
      Procedure procedure,
      IdempotencyKey key,
      ClaimResult.Recorded recorded,
      Consumer<Optional<RuntimeException>> statusUnknown) {
    Optional<Refused> denied = ReplayRight.refusal(procedure, key.caller(), recorded);
    if (denied.isPresent()) {
      return denied.get();
    }
    try {
      return recorded.outcome().accept(new Reader(procedure, key, recorded, statusUnknown));
    } catch (StoreException unreachable) {
      return new Refused(
          Refusal.storeUnavailable(unreachable.failureCause()), Optional.of(unreachable));
    } catch (RuntimeException failure) {
      return unreadable(failure);
    }
  }

  /** Returns the refusal of an answer that cannot be read. It stays recorded. */
  static Refused unreadable(Exception why) {
    return new Refused(Refusal.recordUnreadable(), Optional.of(why));
  }

  /** Reads a recorded outcome. */
  final class Reader implements RecordedOutcome.Visitor<Replay> {
    private final Procedure procedure;
    private final IdempotencyKey key;
    private final ClaimResult.Recorded recorded;
    private final Consumer<Optional<RuntimeException>> statusUnknown;

    private Reader(
        Procedure procedure,
        IdempotencyKey key,
        ClaimResult.Recorded recorded,
        Consumer<Optional<RuntimeException>> statusUnknown) {
      this.procedure = procedure;
      this.key = key;
      this.recorded = recorded;
      this.statusUnknown = statusUnknown;
    }

    @Override
    public Replay response(RecordedOutcome.Response response) {
      return new Response(
          new RecordSeal(key, procedure).open(response.bytes()),
          ReplayStatus.of(procedure, recorded, statusUnknown),
          procedure.omittedFields(),
          false);
    }

    @Override
    public Replay reference(RecordedOutcome.Reference reference) {
      Optional<ResponseRebuilder> rebuilder = procedure.responseRebuilder();
      if (rebuilder.isEmpty()) {
        return Refused.of(Refusal.answerTooLarge());
      }
      return reference
          .resourceId()
          .flatMap(
              resource ->
                  Objects.requireNonNull(
                      rebuilder.get().rebuild(key.caller(), resource),
                      () -> procedure.name() + ": its rebuilder returned null"))
          .<Replay>map(
              message ->
                  new Response(
                      RecordedResponse.withoutOmitted(procedure, message).toByteString(),
                      ReplayStatus.of(procedure, recorded, statusUnknown),
                      procedure.omittedFields(),
                      true))
          .orElseGet(() -> Refused.of(Refusal.resourceGone()));
    }

    @Override
    public Replay failure(RecordedOutcome.Failure failure) {
      return new Failure(new RecordSeal(key, procedure).open(failure.bytes()));
    }
  }
}
