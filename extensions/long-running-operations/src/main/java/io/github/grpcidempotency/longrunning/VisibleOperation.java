package io.github.grpcidempotency.longrunning;

import com.google.longrunning.Operation;
import com.google.protobuf.Any;
import com.google.protobuf.Timestamp;
import io.github.grpcidempotency.grpc.spi.OperationAccess;
import io.github.grpcidempotency.proto.v1.OperationMetadata;
import io.github.grpcidempotency.proto.v1.OperationMetadata.State;
import io.github.grpcidempotency.proto.v1.RecoverResponse;
import io.github.grpcidempotency.resource.IdempotencyStatus;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.RecordedOutcome;
import io.github.grpcidempotency.spi.StoredOperation;
import java.time.Instant;
import java.util.Optional;
import java.util.function.Function;

/** The part of an operation that its caller may see now, as a message with the result if done. */
record VisibleOperation(StoredOperation stored, State state, Operation message) {
  static VisibleOperation of(OperationAccess.Request request, StoredOperation stored) {
    State state = stateOf(request, stored);
    return new VisibleOperation(
        stored, state, message(stored, state, it -> Optional.of(request.answer(it))));
  }

  /** Returns the message for a list. An answer that the caller may no longer get is left out. */
  static Operation listed(OperationAccess.Request request, StoredOperation stored, State state) {
    return message(stored, state, request::answerUnlessRefused);
  }

  /** Returns the state of an operation, and emits an event if its status cannot be read. */
  static State stateOf(OperationAccess.Request request, StoredOperation stored) {
    if (stored.standing() instanceof ClaimResult.Recorded recorded) {
      return recorded.outcome() instanceof RecordedOutcome.Failure
          ? State.STATE_FAILED
          : stateOf(request.status(stored));
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

  static boolean isDone(State state) {
    return state == State.STATE_COMPLETED
        || state == State.STATE_FAILED
        || state == State.STATE_UNSPECIFIED;
  }

  /** Emits the event of a replay if the answer of the operation is about to be sent. */
  void report(OperationAccess.Request request) {
    if (isDone(state) && stored.standing() instanceof ClaimResult.Recorded) {
      request.replayed(stored);
    }
  }

  private static Operation message(
      StoredOperation stored,
      State state,
      Function<StoredOperation, Optional<RecoverResponse>> answerOf) {
    OperationMetadata.Builder metadata =
        OperationMetadata.newBuilder()
            .setProcedure(stored.procedure())
            .setState(state)
            .setCreateTime(timestamp(stored.created()));
    stored.answered().ifPresent(answered -> metadata.setAnswerTime(timestamp(answered)));
    Operation.Builder operation = Operation.newBuilder();
    if (stored.standing() instanceof ClaimResult.Recorded recorded) {
      metadata.setExpireTime(timestamp(recorded.expires()));
      answerOf.apply(stored).ifPresent(answer -> add(answer, operation, metadata));
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

  private static void add(
      RecoverResponse answer, Operation.Builder operation, OperationMetadata.Builder metadata) {
    if (answer.hasError()) {
      operation.setError(answer.getError());
    } else {
      operation.setResponse(answer.getResponse());
      metadata
          .addAllOmittedFields(answer.getOmittedFieldsList())
          .setReconstructed(answer.getReconstructed());
    }
  }

  private static Timestamp timestamp(Instant instant) {
    return Timestamp.newBuilder()
        .setSeconds(instant.getEpochSecond())
        .setNanos(instant.getNano())
        .build();
  }
}
