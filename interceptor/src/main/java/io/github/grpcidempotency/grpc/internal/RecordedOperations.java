package io.github.grpcidempotency.grpc.internal;

import static java.util.function.Function.identity;
import static java.util.stream.Collectors.toMap;

import io.github.grpcidempotency.event.Entry;
import io.github.grpcidempotency.event.RefusalReason;
import io.github.grpcidempotency.grpc.spi.OperationAccess;
import io.github.grpcidempotency.internal.decision.Refusal;
import io.github.grpcidempotency.internal.engine.Drain;
import io.github.grpcidempotency.internal.engine.Engine;
import io.github.grpcidempotency.internal.engine.Engines;
import io.github.grpcidempotency.internal.event.CallEvents;
import io.github.grpcidempotency.internal.event.ProcedureInfo;
import io.github.grpcidempotency.internal.record.RefusedException;
import io.github.grpcidempotency.internal.record.Replay;
import io.github.grpcidempotency.internal.waiting.InFlightWaiter;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.CallerResolver;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.KeyPolicy;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.Procedures;
import io.github.grpcidempotency.proto.v1.RecoverResponse;
import io.github.grpcidempotency.resource.IdempotencyStatus;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.IdempotencyStore;
import io.github.grpcidempotency.spi.StoredOperation;
import io.grpc.StatusRuntimeException;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/** The operations that the engines of an interceptor have recorded. Thread-safe. */
public final class RecordedOperations implements OperationAccess {
  /** The name of the operation in errors, and its source in events. */
  private static final String NAME = "name";

  private final Map<String, Procedure> procedures;
  private final CallerResolver callers;
  private final Engines engines;
  private final Consumer<Runnable> closing;

  public RecordedOperations(
      Procedures procedures, CallerResolver callers, Engines engines, Consumer<Runnable> closing) {
    this.procedures =
        procedures.all().stream()
            .filter(RecordedAnswer::isReadable)
            .collect(toMap(Procedure::name, identity()));
    this.callers = callers;
    this.engines = engines;
    this.closing = closing;
  }

  @Override
  public Map<String, Procedure> procedures() {
    return procedures;
  }

  @Override
  public Map<Optional<String>, IdempotencyStore> stores() {
    return engines.all().stream().collect(toMap(Engine::shard, Engine::store));
  }

  @Override
  public void check(Optional<String> shard) {
    engines.all().stream().filter(engine -> engine.shard().equals(shard)).forEach(Engine::check);
  }

  @Override
  public Executor executor() {
    return engines.executor();
  }

  @Override
  public void onClose(Runnable action) {
    closing.accept(action);
  }

  @Override
  public Request begin(String service) {
    return new OfCaller(service);
  }

  private final class OfCaller implements Request {
    private final long begun = System.nanoTime();
    private final Drain.Call wait = this::stopWaiting;
    private volatile CallEvents events;
    private volatile Optional<Engine> engine = Optional.empty();
    private volatile Optional<UUID> operationId = Optional.empty();
    private volatile Consumer<RuntimeException> stop = refusal -> {};

    private OfCaller(String service) {
      this.events =
          engines.events(
              new ProcedureInfo(
                  service, Entry.OPERATIONS, KeyPolicy.HANDLER_INTERNAL, Execution.RESERVED));
    }

    @Override
    public Caller caller() {
      Caller caller = callers.resolve().orElseThrow(() -> refusal(RefusalReason.CALLER_REQUIRED));
      events = events.of(Optional.of(caller));
      Engine own = engines.of(caller);
      engine = Optional.of(own);
      events = events.onShard(own.shard());
      return caller;
    }

    @Override
    public Optional<String> shard() {
      return engine.flatMap(Engine::shard);
    }

    @Override
    public void about(StoredOperation operation) {
      events = eventsOf(operation);
      operationId = Optional.of(operation.id());
    }

    @Override
    public Optional<IdempotencyStatus> status(StoredOperation answered) {
      return Replay.status(
          procedure(answered),
          recorded(answered),
          failure -> eventsOf(answered).statusUnknown(answered.id(), failure));
    }

    @Override
    public RecoverResponse answer(StoredOperation answered) {
      Procedure procedure = procedure(answered);
      return RecordedAnswer.of(
              procedure, Replay.withoutStatus(procedure, answered.key(), recorded(answered)))
          .build();
    }

    @Override
    public Optional<RecoverResponse> answerUnlessRefused(StoredOperation answered) {
      try {
        return Optional.of(answer(answered));
      } catch (RefusedException refused) {
        return Optional.empty();
      }
    }

    @Override
    public void replayed(StoredOperation answered) {
      eventsOf(answered).replayed(recorded(answered), Duration.ofNanos(System.nanoTime() - begun));
    }

    @Override
    public RuntimeException refusal(RefusalReason reason) {
      return RefusedException.of(reason);
    }

    @Override
    public StatusRuntimeException failed(Throwable failure) {
      return ServiceError.of(failure, events, operationId, NAME);
    }

    @Override
    public Duration waitLimit(com.google.protobuf.Duration requested) {
      return WaitLimit.of(requested);
    }

    @Override
    public void await(
        StoredOperation running,
        Duration limit,
        Consumer<Runnable> begun,
        Consumer<Boolean> ended) {
      InFlightWaiter.Waiting waiting =
          new InFlightWaiter.Waiting() {
            @Override
            public void found(ClaimResult result, Duration took) {
              ended.accept(false);
            }

            @Override
            public void free() {
              ended.accept(false);
            }

            @Override
            public void over(ClaimResult.InFlight met) {
              ended.accept(true);
            }
          };
      InFlightWaiter.Waiter waiter =
          engine.orElseThrow().waiter().toRead(running.key(), procedure(running), waiting);
      begun.accept(waiter::cancel);
      waiter.begin((ClaimResult.InFlight) running.standing(), limit);
    }

    @Override
    public void waiting(Consumer<RuntimeException> stop) {
      this.stop = stop;
      engines.drain().add(wait);
    }

    @Override
    public void answered() {
      engines.drain().remove(wait);
    }

    private void stopWaiting() {
      within(() -> stop.accept(new RefusedException(Refusal.shuttingDown(operationId))));
    }

    @Override
    public void within(Runnable action) {
      events.within(action);
    }

    private Procedure procedure(StoredOperation operation) {
      return Objects.requireNonNull(procedures.get(operation.procedure()));
    }

    private static ClaimResult.Recorded recorded(StoredOperation answered) {
      return (ClaimResult.Recorded) answered.standing();
    }

    private CallEvents eventsOf(StoredOperation operation) {
      return events
          .about(ProcedureInfo.of(procedure(operation), Entry.OPERATIONS))
          .of(operation.key(), NAME);
    }
  }
}
