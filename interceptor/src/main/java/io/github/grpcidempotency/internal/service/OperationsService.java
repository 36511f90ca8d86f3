package io.github.grpcidempotency.internal.service;

import static java.util.stream.Collectors.toMap;

import com.google.longrunning.CancelOperationRequest;
import com.google.longrunning.DeleteOperationRequest;
import com.google.longrunning.GetOperationRequest;
import com.google.longrunning.ListOperationsRequest;
import com.google.longrunning.ListOperationsResponse;
import com.google.longrunning.Operation;
import com.google.longrunning.OperationsGrpc;
import com.google.longrunning.WaitOperationRequest;
import com.google.protobuf.Empty;
import io.github.grpcidempotency.event.RefusalReason;
import io.github.grpcidempotency.internal.record.RefusedException;
import io.github.grpcidempotency.internal.runtime.Engine;
import io.github.grpcidempotency.internal.runtime.Engines;
import io.github.grpcidempotency.internal.runtime.Operations;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.CallerResolver;
import io.github.grpcidempotency.key.KeyFormat;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.Procedures;
import io.github.grpcidempotency.store.spi.StoredOperation;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;

/**
 * Serves a caller's operations, by the ids in the trailer {@code idempotency-operation}. A caller
 * to whom a replay is denied gets no answer from this service either. Operations of other callers
 * are not found.
 */
public final class OperationsService extends OperationsGrpc.OperationsImplBase
    implements AutoCloseable {
  private static final Set<String> COLLECTIONS = Set.of("", "operations");

  private final CallerResolver callers;
  private final Engines engines;
  private final Map<Engine, Operations> operations;

  public OperationsService(Procedures procedures, CallerResolver callers, Engines engines) {
    this.callers = callers;
    this.engines = engines;
    List<Procedure> readable =
        procedures.all().stream().filter(RecordedAnswer::isReadable).toList();
    this.operations =
        engines.all().stream()
            .collect(toMap(Function.identity(), engine -> engine.operations(readable)));
  }

  /** The caller of a request, and the engine of the caller's shard. */
  private record Asked(Caller caller, Engine engine, Operations operations) {}

  @Override
  public void close() {
    operations.values().forEach(Operations::close);
  }

  @Override
  public void getOperation(GetOperationRequest request, StreamObserver<Operation> observer) {
    answer(
        observer,
        call -> {
          VisibleOperation seen = find(call, ask(call), request.getName());
          call.answered(seen);
          return seen.message();
        });
  }

  @Override
  public void waitOperation(WaitOperationRequest request, StreamObserver<Operation> observer) {
    OperationsCall call = new OperationsCall(engines);
    Duration limit = request.hasTimeout() ? WaitLimit.of(request.getTimeout()) : WaitLimit.most();
    try {
      Asked asked = ask(call);
      VisibleOperation seen = find(call, asked, request.getName());
      OperationWait wait =
          new OperationWait(
              engines.drain(),
              asked.engine(),
              asked.operations(),
              call,
              seen.stored(),
              (ServerCallStreamObserver<Operation>) observer,
              limit);
      wait.begin(seen);
    } catch (Throwable failure) {
      observer.onError(call.failed(failure));
    }
  }

  @Override
  public void listOperations(
      ListOperationsRequest request, StreamObserver<ListOperationsResponse> observer) {
    answer(
        observer,
        call -> {
          if (!COLLECTIONS.contains(request.getName())) {
            throw ServiceError.invalid("name must be empty or operations");
          }
          Asked asked = ask(call);
          return new OperationPage(asked.operations(), request, call).of(asked.caller());
        });
  }

  @Override
  public void deleteOperation(DeleteOperationRequest request, StreamObserver<Empty> observer) {
    answer(
        observer,
        call -> {
          Asked asked = ask(call);
          StoredOperation stored = stored(call, asked, request.getName());
          Procedure procedure = asked.operations().procedure(stored);
          if (!VisibleOperation.isDone(call.stateOf(stored, procedure))) {
            throw RefusedException.of(RefusalReason.OPERATION_UNFINISHED);
          }
          if (!asked.operations().catalog().forget(asked.caller(), stored.id())) {
            throw RefusedException.of(RefusalReason.OPERATION_UNKNOWN);
          }
          return Empty.getDefaultInstance();
        });
  }

  @Override
  public void cancelOperation(CancelOperationRequest request, StreamObserver<Empty> observer) {
    observer.onError(
        Status.UNIMPLEMENTED
            .withDescription(
                "an operation cannot be cancelled: its effect may have happened already;"
                    + " to undo it, call the service's own delete method")
            .asRuntimeException());
  }

  private Asked ask(OperationsCall call) {
    Caller caller =
        callers.resolve().orElseThrow(() -> RefusedException.of(RefusalReason.CALLER_REQUIRED));
    Engine engine = call.by(caller);
    return new Asked(caller, engine, Objects.requireNonNull(operations.get(engine)));
  }

  /**
   * Returns the id in a name. Names are case-sensitive (AIP-122). Other names get the same answer
   * as names of unknown operations.
   */
  private static UUID idOf(String name) {
    return KeyFormat.uuid()
        .canonicalize(name)
        .filter(name::equals)
        .map(UUID::fromString)
        .orElseThrow(() -> RefusedException.of(RefusalReason.OPERATION_UNKNOWN));
  }

  private VisibleOperation find(OperationsCall call, Asked asked, String name) {
    StoredOperation stored = stored(call, asked, name);
    return call.see(stored, asked.operations().procedure(stored));
  }

  private StoredOperation stored(OperationsCall call, Asked asked, String name) {
    StoredOperation stored =
        asked.operations().catalog().find(asked.caller(), List.of(idOf(name))).stream()
            .findFirst()
            .orElseThrow(() -> RefusedException.of(RefusalReason.OPERATION_UNKNOWN));
    call.about(stored, asked.operations().procedure(stored));
    return stored;
  }

  private <T> void answer(StreamObserver<T> observer, Function<OperationsCall, T> work) {
    OperationsCall call = new OperationsCall(engines);
    T response;
    try {
      response = work.apply(call);
    } catch (Throwable failure) {
      observer.onError(call.failed(failure));
      return;
    }
    observer.onNext(response);
    observer.onCompleted();
  }
}
