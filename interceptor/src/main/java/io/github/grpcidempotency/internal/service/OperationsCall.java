package io.github.grpcidempotency.internal.service;

import io.github.grpcidempotency.event.Entry;
import io.github.grpcidempotency.event.ProcedureInfo;
import io.github.grpcidempotency.internal.event.CallEvents;
import io.github.grpcidempotency.internal.runtime.Engine;
import io.github.grpcidempotency.internal.runtime.Engines;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.KeyPolicy;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.proto.v1.OperationMetadata.State;
import io.github.grpcidempotency.store.spi.ClaimResult;
import io.github.grpcidempotency.store.spi.StoredOperation;
import io.grpc.StatusRuntimeException;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;

/**
 * One request about operations, and its events. Created on the thread on which the request arrives.
 */
final class OperationsCall {
  /** The description, in events, of an operation that is not found. */
  private static final ProcedureInfo UNKNOWN =
      new ProcedureInfo(
          "google.longrunning.Operations",
          Entry.OPERATIONS,
          KeyPolicy.HANDLER_INTERNAL,
          Execution.RESERVED);

  private final Engines engines;
  private final long begun = System.nanoTime();
  private volatile CallEvents events;
  private volatile Optional<UUID> operationId = Optional.empty();

  OperationsCall(Engines engines) {
    this.engines = engines;
    this.events = engines.events(UNKNOWN);
  }

  Engine by(Caller caller) {
    events = events.of(Optional.of(caller));
    Engine own = engines.of(caller);
    events = events.onShard(own.shard());
    return own;
  }

  void about(StoredOperation stored, Procedure procedure) {
    events = eventsOf(stored, procedure);
    operationId = Optional.of(stored.id());
  }

  /** Returns the operation that the request is about, if it is known. */
  Optional<UUID> operation() {
    return operationId;
  }

  VisibleOperation see(StoredOperation stored, Procedure procedure) {
    return VisibleOperation.of(stored, stateOf(stored, procedure), procedure);
  }

  /** Returns the state of an operation, and emits an event if its status cannot be read. */
  State stateOf(StoredOperation stored, Procedure procedure) {
    return VisibleOperation.stateOf(
        stored,
        procedure,
        failure -> eventsOf(stored, procedure).statusUnknown(stored.id(), failure));
  }

  /** Emits the event of a replay if the answer of an operation is about to be sent. */
  void answered(VisibleOperation seen) {
    if (seen.isDone() && seen.stored().standing() instanceof ClaimResult.Recorded recorded) {
      eventsOf(seen.stored(), seen.procedure())
          .replayed(recorded, Duration.ofNanos(System.nanoTime() - begun));
    }
  }

  StatusRuntimeException failed(Throwable failure) {
    return ServiceError.of(failure, events, operationId, "name");
  }

  void within(Runnable action) {
    events.within(action);
  }

  private CallEvents eventsOf(StoredOperation stored, Procedure procedure) {
    return events.about(engines.info(procedure, Entry.OPERATIONS)).of(stored.key(), "name");
  }
}
