package io.github.grpcidempotency.internal.service;

import io.github.grpcidempotency.internal.record.ReplayStatus;
import io.github.grpcidempotency.procedure.IdempotencyStatus;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.proto.v1.OperationMetadata.State;
import io.github.grpcidempotency.store.ClaimResult;
import io.github.grpcidempotency.store.RecordedOutcome;
import java.util.Optional;
import java.util.function.Consumer;

/** The state of an operation, derived from its record. */
final class OperationState implements ClaimResult.Visitor<State> {
  private final Procedure procedure;
  private final Consumer<Optional<RuntimeException>> statusUnknown;

  private OperationState(Procedure procedure, Consumer<Optional<RuntimeException>> statusUnknown) {
    this.procedure = procedure;
    this.statusUnknown = statusUnknown;
  }

  /**
   * Returns the state.
   *
   * @param statusUnknown called if the status cannot be read, with the exception of the resolver if
   *     there is one
   */
  static State of(
      ClaimResult standing,
      Procedure procedure,
      Consumer<Optional<RuntimeException>> statusUnknown) {
    return standing.accept(new OperationState(procedure, statusUnknown));
  }

  /** Returns whether a state is final. */
  static boolean isDone(State state) {
    return state == State.STATE_COMPLETED
        || state == State.STATE_FAILED
        || state == State.STATE_UNSPECIFIED;
  }

  @Override
  public State won(ClaimResult.Won won) {
    throw new AssertionError("a search claims nothing");
  }

  @Override
  public State inFlight(ClaimResult.InFlight inFlight) {
    if (inFlight.isAbandoned()) {
      return State.STATE_ABANDONED;
    }
    return inFlight.outcomeUnknown() ? State.STATE_UNKNOWN : State.STATE_RUNNING;
  }

  @Override
  public State recorded(ClaimResult.Recorded recorded) {
    return recorded
        .outcome()
        .accept(
            new RecordedOutcome.Visitor<>() {
              @Override
              public State response(RecordedOutcome.Response response) {
                return ofWork(ReplayStatus.of(procedure, recorded, statusUnknown));
              }

              @Override
              public State reference(RecordedOutcome.Reference reference) {
                return ofWork(ReplayStatus.of(procedure, recorded, statusUnknown));
              }

              @Override
              public State failure(RecordedOutcome.Failure failure) {
                return State.STATE_FAILED;
              }
            });
  }

  /**
   * Returns the state of an operation with an answer. Without a status, no client can wait for the
   * asynchronous work, so the operation is done.
   */
  private static State ofWork(Optional<IdempotencyStatus> status) {
    return status
        .map(
            known ->
                switch (known) {
                  case PROCESSING -> State.STATE_PROCESSING;
                  case COMPLETED -> State.STATE_COMPLETED;
                  case FAILED -> State.STATE_FAILED;
                })
        .orElse(State.STATE_UNSPECIFIED);
  }
}
