package io.github.grpcidempotency.grpc.internal;

import com.google.protobuf.Timestamp;
import io.github.grpcidempotency.event.Entry;
import io.github.grpcidempotency.event.RefusalReason;
import io.github.grpcidempotency.event.WaitEvent;
import io.github.grpcidempotency.internal.decision.Refusal;
import io.github.grpcidempotency.internal.engine.Drain;
import io.github.grpcidempotency.internal.engine.Engine;
import io.github.grpcidempotency.internal.engine.Engines;
import io.github.grpcidempotency.internal.event.CallEvents;
import io.github.grpcidempotency.internal.record.RefusedException;
import io.github.grpcidempotency.internal.record.Replay;
import io.github.grpcidempotency.internal.waiting.InFlightWaiter;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.CallerResolver;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.key.KeyException;
import io.github.grpcidempotency.procedure.KeyPolicy;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.Procedures;
import io.github.grpcidempotency.proto.v1.RecoverRequest;
import io.github.grpcidempotency.proto.v1.RecoverResponse;
import io.github.grpcidempotency.proto.v1.RecoveryGrpc;
import io.github.grpcidempotency.proto.v1.Unfinished;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.RecordedProcedure;
import io.github.grpcidempotency.store.StoreException;
import io.grpc.Context;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.time.Instant;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * Finds the outcome of a call by its method and key, for a client that no longer has the request.
 * It claims no key and runs no handler. A caller to whom a replay is denied gets no answer from
 * this service either.
 */
public final class RecoveryService extends RecoveryGrpc.RecoveryImplBase {
  /** The name of the key in errors, and its source in events. */
  private static final String KEY = "key";

  private final Procedures procedures;
  private final CallerResolver callers;
  private final Engines engines;

  public RecoveryService(Procedures procedures, CallerResolver callers, Engines engines) {
    this.procedures = procedures;
    this.callers = callers;
    this.engines = engines;
  }

  @Override
  public void recover(RecoverRequest request, StreamObserver<RecoverResponse> observer) {
    Procedure procedure;
    try {
      procedure = procedureOf(request.getMethod());
    } catch (StatusRuntimeException unknown) {
      observer.onError(unknown);
      return;
    }
    CallEvents events = engines.events(procedure, Entry.RECOVERY);
    Recovery recovery;
    Found found;
    try {
      Caller caller =
          callers.resolve().orElseThrow(() -> RefusedException.of(RefusalReason.CALLER_REQUIRED));
      events = events.of(Optional.of(caller));
      Engine engine = engines.of(caller);
      events = events.onShard(engine.shard());
      List<IdempotencyKey> keys = RecoveryKeys.of(procedure, caller, request);
      events = events.of(keys.get(0), KEY);
      found = find(keys, procedure, engine);
      events = events.of(found.key(), KEY);
      recovery =
          new Recovery(
              engine,
              procedure,
              found.key(),
              events,
              (ServerCallStreamObserver<RecoverResponse>) observer);
    } catch (RefusedException | KeyException | StoreException | StatusRuntimeException refused) {
      observer.onError(ServiceError.of(refused, events, Optional.empty(), KEY));
      return;
    }
    recovery.run(found, WaitLimit.of(request.getWait()));
  }

  /** The record of a call under one of the possible keys. */
  private record Found(IdempotencyKey key, Optional<ClaimResult> result, Duration took) {}

  /** Looks for a call of the procedure under each key, until one is found. */
  private static Found find(List<IdempotencyKey> keys, Procedure procedure, Engine engine) {
    long begun = System.nanoTime();
    IdempotencyKey key;
    Optional<ClaimResult> result;
    Iterator<IdempotencyKey> each = keys.iterator();
    do {
      key = each.next();
      result = engine.find(key, procedure);
    } while (each.hasNext() && result.filter(known -> isOf(procedure, known)).isEmpty());
    return new Found(key, result, Duration.ofNanos(System.nanoTime() - begun));
  }

  /** Returns whether a result is of a call of the procedure, as far as the store can see. */
  private static boolean isOf(Procedure procedure, ClaimResult known) {
    if (known instanceof ClaimResult.Recorded recorded) {
      return recorded.procedure().equals(procedure.name());
    }
    return !(known instanceof ClaimResult.InFlight running)
        || running.procedure().map(procedure.name()::equals).orElse(true);
  }

  private Procedure procedureOf(String method) {
    return procedures
        .find(method)
        .filter(procedure -> procedure.keyPolicy() != KeyPolicy.PROHIBITED)
        .filter(procedure -> procedure.keyPolicy() != KeyPolicy.HANDLER_INTERNAL)
        .filter(RecordedAnswer::isReadable)
        .orElseThrow(
            () ->
                Status.INVALID_ARGUMENT
                    .withDescription("method is not the full name of a method that takes a key")
                    .asRuntimeException());
  }

  /** One {@code Recover} call. After a wait, it is answered within the caller's own call. */
  private final class Recovery implements Drain.Call, InFlightWaiter.Waiting {
    private final Engine engine;
    private final Procedure procedure;
    private final IdempotencyKey key;
    private final CallEvents events;
    private final ServerCallStreamObserver<RecoverResponse> observer;
    private final Context context = Context.current();
    private volatile Duration took = Duration.ZERO;
    private volatile long begin;
    private volatile Optional<InFlightWaiter.Waiter> waiter = Optional.empty();
    private volatile Optional<UUID> awaited = Optional.empty();

    Recovery(
        Engine engine,
        Procedure procedure,
        IdempotencyKey key,
        CallEvents events,
        ServerCallStreamObserver<RecoverResponse> observer) {
      this.engine = engine;
      this.procedure = procedure;
      this.key = key;
      this.events = events;
      this.observer = observer;
      observer.setOnCancelHandler(() -> stopWaiting(WaitEvent.End.CANCELLED, () -> {}));
    }

    @Override
    public void stopWaiting() {
      stopWaiting(
          WaitEvent.End.GAVE_UP,
          () -> fail(new RefusedException(Refusal.shuttingDown(awaited)), awaited));
    }

    private void stopWaiting(WaitEvent.End end, Runnable answer) {
      if (waiter.filter(InFlightWaiter.Waiter::cancel).isPresent()) {
        engines.drain().remove(this);
        events.within(() -> endWait(end, answer));
      }
    }

    private void endWait(WaitEvent.End end, Runnable answer) {
      events.waitEnded(Duration.ofNanos(System.nanoTime() - begin), end);
      answer.run();
    }

    void run(Found first, Duration wait) {
      took = first.took();
      Optional<ClaimResult> ours = ours(first.result());
      if (ours.isPresent()
          && ours.get() instanceof ClaimResult.InFlight running
          && !running.outcomeUnknown()
          && !running.isAbandoned()
          && !wait.isNegative()
          && !wait.isZero()) {
        begin = System.nanoTime();
        events.attached();
        awaited = running.operationId();
        engines.drain().add(this);
        InFlightWaiter.Waiter next = engine.waiter().toRead(key, procedure, this);
        waiter = Optional.of(next);
        next.begin(running, wait);
        engines.drain().stopIfDraining(this);
      } else {
        answer(ours);
      }
    }

    private Optional<ClaimResult> ours(Optional<ClaimResult> found) {
      return found.filter(result -> isOf(procedure, result));
    }

    @Override
    public void found(ClaimResult result, Duration probeTook) {
      took = probeTook;
      resume(Optional.of(result), CallEvents.endOfWait(result));
    }

    @Override
    public void free() {
      resume(Optional.empty(), WaitEvent.End.ANSWERED);
    }

    @Override
    public void over(ClaimResult.InFlight met) {
      resume(Optional.of(met), WaitEvent.End.GAVE_UP);
    }

    private void resume(Optional<ClaimResult> found, WaitEvent.End end) {
      engines.drain().remove(this);
      Runnable step = () -> endWait(end, () -> answer(ours(found)));
      engines.executor().execute(context.wrap(() -> events.within(step)));
    }

    private void answer(Optional<ClaimResult> ours) {
      Optional<UUID> recorded =
          ours.filter(ClaimResult.Recorded.class::isInstance)
              .map(found -> ((ClaimResult.Recorded) found).operationId());
      RecoverResponse response;
      try {
        response =
            ours.map(this::responseOf)
                .orElseThrow(() -> RefusedException.of(RefusalReason.KEY_UNKNOWN));
      } catch (Throwable failure) { // after a wait, no other code answers the call
        fail(failure, recorded);
        return;
      }
      observer.onNext(response);
      observer.onCompleted();
    }

    private void fail(Throwable failure, Optional<UUID> operationId) {
      observer.onError(ServiceError.of(failure, events, operationId, KEY));
    }

    private RecoverResponse responseOf(ClaimResult ours) {
      return ours instanceof ClaimResult.Recorded recorded
          ? responseOf(recorded)
          : responseOf((ClaimResult.InFlight) ours);
    }

    private RecoverResponse responseOf(ClaimResult.InFlight running) {
      Unfinished.State state =
          running.outcomeUnknown()
              ? Unfinished.State.STATE_UNKNOWN
              : Unfinished.State.STATE_RUNNING;
      RecoverResponse.Builder response =
          RecoverResponse.newBuilder()
              .setUnfinished(
                  Unfinished.newBuilder()
                      .setState(running.isAbandoned() ? Unfinished.State.STATE_ABANDONED : state));
      running.operationId().map(UUID::toString).ifPresent(response::setOperation);
      return response.build();
    }

    private RecoverResponse responseOf(ClaimResult.Recorded recorded) {
      UUID id = recorded.operationId();
      Replay replay =
          Replay.of(procedure, key, recorded, failure -> events.statusUnknown(id, failure));
      RecoverResponse.Builder response =
          RecordedAnswer.of(procedure, replay).setOperation(id.toString());
      events.replayed(recorded, took);
      Instant expires = expires(recorded);
      return response
          .setExpires(
              Timestamp.newBuilder()
                  .setSeconds(expires.getEpochSecond())
                  .setNanos(expires.getNano()))
          .build();
    }

    private Instant expires(ClaimResult.Recorded recorded) {
      ClaimRequest request =
          ClaimRequest.of(key, RecordedProcedure.of(procedure), recorded.fingerprint())
              .retainedFor(procedure.retention());
      return engine.retain(procedure, request, recorded, events);
    }
  }
}
