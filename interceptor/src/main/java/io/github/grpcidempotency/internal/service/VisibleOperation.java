package io.github.grpcidempotency.internal.service;

import com.google.longrunning.Operation;
import com.google.protobuf.Any;
import com.google.protobuf.Timestamp;
import io.github.grpcidempotency.internal.record.RefusedException;
import io.github.grpcidempotency.internal.record.Replay;
import io.github.grpcidempotency.internal.record.ReplayStatus;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.proto.v1.OperationMetadata;
import io.github.grpcidempotency.proto.v1.OperationMetadata.State;
import io.github.grpcidempotency.resource.IdempotencyStatus;
import io.github.grpcidempotency.store.spi.ClaimResult;
import io.github.grpcidempotency.store.spi.RecordedOutcome;
import io.github.grpcidempotency.store.spi.StoredOperation;
import java.time.Instant;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.Consumer;

/** The part of an operation that its caller may see now, as a message with the result if done. */
record VisibleOperation(
    StoredOperation stored, Procedure procedure, State state, Operation message) {
  static VisibleOperation of(StoredOperation stored, State state, Procedure procedure) {
    return new VisibleOperation(
        stored, procedure, state, message(stored, state, answerOf(stored, procedure), procedure));
  }

  /** Returns the message for a list. An answer that the caller may no longer get is left out. */
  static Operation listed(StoredOperation stored, State state, Procedure procedure) {
    Optional<Replay> answer;
    try {
      answer = answerOf(stored, procedure);
    } catch (RefusedException refused) {
      answer = Optional.empty();
    }
    return message(stored, state, answer, procedure);
  }

  /**
   * Returns the state of an operation.
   *
   * @param statusUnknown called if the status cannot be read, with the exception of the resolver if
   *     there is one
   */
  static State stateOf(
      StoredOperation stored, Procedure procedure, Consumer<Optional<Throwable>> statusUnknown) {
    if (stored.standing() instanceof ClaimResult.Recorded recorded) {
      return recorded.outcome() instanceof RecordedOutcome.Failure
          ? State.STATE_FAILED
          : stateOf(ReplayStatus.of(procedure, recorded, statusUnknown));
    }
    ClaimResult.InFlight running = (ClaimResult.InFlight) stored.standing();
    if (running.isAbandoned()) {
      return State.STATE_ABANDONED;
    }
    return running.outcomeUnknown() ? State.STATE_UNKNOWN : State.STATE_RUNNING;
  }

  /** Without a status, no client can wait for the asynchronous work, so the operation is done. */
  private static State stateOf(Optional<IdempotencyStatus> status) {
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

  boolean isDone() {
    return isDone(state);
  }

  static boolean isDone(State state) {
    return state == State.STATE_COMPLETED
        || state == State.STATE_FAILED
        || state == State.STATE_UNSPECIFIED;
  }

  private static Optional<Replay> answerOf(StoredOperation stored, Procedure procedure) {
    return stored.standing() instanceof ClaimResult.Recorded recorded
        ? Optional.of(
            Replay.of(procedure, stored.key(), withoutResolver(recorded), neverAsked -> {}))
        : Optional.empty();
  }

  /** Adds a status, so that no resolver is called again for an operation whose state is known. */
  private static ClaimResult.Recorded withoutResolver(ClaimResult.Recorded recorded) {
    return new ClaimResult.Recorded(
        recorded.fingerprint(),
        recorded.procedure(),
        recorded.operationId(),
        recorded.expires(),
        recorded.outcome(),
        Optional.of(IdempotencyStatus.PROCESSING),
        recorded.trace());
  }

  private static Operation message(
      StoredOperation stored, State state, Optional<Replay> answer, Procedure procedure) {
    OperationMetadata.Builder metadata =
        OperationMetadata.newBuilder()
            .setProcedure(stored.procedure())
            .setState(state)
            .setCreateTime(timestamp(stored.created()));
    stored.answered().ifPresent(answered -> metadata.setAnswerTime(timestamp(answered)));
    if (stored.standing() instanceof ClaimResult.Recorded recorded) {
      metadata.setExpireTime(timestamp(recorded.expires()));
    }
    Operation.Builder operation = Operation.newBuilder();
    if (answer.isPresent() && answer.get() instanceof Replay.Response response) {
      operation.setResponse(RecordedAnswer.response(procedure, response.bytes()));
      metadata
          .addAllOmittedFields(new TreeSet<>(response.omitted()))
          .setReconstructed(response.reconstructed());
    } else {
      answer.ifPresent(error -> operation.setError(RecordedAnswer.error(error.bytes())));
    }
    if (!isDone(state)) {
      operation.clearResult();
    }
    return operation
        .setName(stored.id().toString())
        .setDone(isDone(state))
        .setMetadata(Any.pack(metadata.build()))
        .build();
  }

  static Timestamp timestamp(Instant instant) {
    return Timestamp.newBuilder()
        .setSeconds(instant.getEpochSecond())
        .setNanos(instant.getNano())
        .build();
  }
}
