package io.github.grpcidempotency.internal.service;

import com.google.longrunning.Operation;
import com.google.protobuf.Any;
import com.google.protobuf.Timestamp;
import io.github.grpcidempotency.internal.record.RefusedException;
import io.github.grpcidempotency.internal.record.Replay;
import io.github.grpcidempotency.procedure.IdempotencyStatus;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.proto.v1.OperationMetadata;
import io.github.grpcidempotency.proto.v1.OperationMetadata.State;
import io.github.grpcidempotency.store.ClaimResult;
import io.github.grpcidempotency.store.StoredOperation;
import java.time.Instant;
import java.util.Optional;
import java.util.TreeSet;

/** An operation as a message of {@code google.longrunning}, with its result if it is done. */
final class OperationMessage {
  private final Procedure procedure;
  private final boolean refusals;
  private final Operation.Builder operation = Operation.newBuilder();
  private final OperationMetadata.Builder metadata = OperationMetadata.newBuilder();

  private OperationMessage(Procedure procedure, boolean refusals) {
    this.procedure = procedure;
    this.refusals = refusals;
  }

  /**
   * Returns the message for an operation that was requested by its name.
   *
   * @throws RefusedException if the caller may no longer get the answer, or the answer cannot be
   *     read
   */
  static Operation of(StoredOperation stored, State state, Procedure procedure) {
    return new OperationMessage(procedure, true).build(stored, state);
  }

  /** Returns the message for a list. An answer that the caller may no longer get is left out. */
  static Operation listed(StoredOperation stored, State state, Procedure procedure) {
    return new OperationMessage(procedure, false).build(stored, state);
  }

  private Operation build(StoredOperation stored, State state) {
    metadata
        .setProcedure(stored.procedure())
        .setState(state)
        .setCreateTime(timestamp(stored.created()));
    stored.answered().ifPresent(answered -> metadata.setAnswerTime(timestamp(answered)));
    if (stored.standing() instanceof ClaimResult.Recorded recorded) {
      metadata.setExpireTime(timestamp(recorded.expires()));
      addResult(stored, recorded);
    }
    boolean done = OperationState.isDone(state);
    if (!done) {
      operation.clearResult();
    }
    return operation
        .setName(stored.id().toString())
        .setDone(done)
        .setMetadata(Any.pack(metadata.build()))
        .build();
  }

  private void addResult(StoredOperation stored, ClaimResult.Recorded recorded) {
    Replay replay;
    try {
      replay = Replay.of(procedure, stored.key(), withoutResolver(recorded), neverAsked -> {});
    } catch (RefusedException refused) {
      if (refusals) {
        throw refused;
      }
      return;
    }
    if (replay instanceof Replay.Response response) {
      operation.setResponse(RecordedAnswer.response(procedure, response.bytes()));
      metadata
          .addAllOmittedFields(new TreeSet<>(response.omitted()))
          .setReconstructed(response.reconstructed());
    } else {
      operation.setError(RecordedAnswer.error(replay.bytes()));
    }
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

  static Timestamp timestamp(Instant instant) {
    return Timestamp.newBuilder()
        .setSeconds(instant.getEpochSecond())
        .setNanos(instant.getNano())
        .build();
  }
}
