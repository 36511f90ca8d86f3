package io.github.grpcidempotency.grpc;

import com.google.longrunning.CancelOperationRequest;
import com.google.longrunning.DeleteOperationRequest;
import com.google.longrunning.GetOperationRequest;
import com.google.longrunning.ListOperationsRequest;
import com.google.longrunning.ListOperationsResponse;
import com.google.longrunning.Operation;
import com.google.longrunning.OperationsGrpc;
import com.google.longrunning.WaitOperationRequest;
import com.google.protobuf.Empty;
import io.github.grpcidempotency.internal.decision.Refusal;
import io.github.grpcidempotency.internal.runtime.Engine;
import io.github.grpcidempotency.internal.runtime.Operations;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.CallerResolver;
import io.github.grpcidempotency.key.KeyFormat;
import io.github.grpcidempotency.procedure.Procedures;
import io.github.grpcidempotency.proto.v1.OperationMetadata.State;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.store.StoredOperation;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A caller's operations, by the ids in the trailer {@code idempotency-operation}. A caller to whom
 * a replay is denied gets no answer here either. Operations of other callers are not found.
 */
final class OperationsService extends OperationsGrpc.OperationsImplBase implements AutoCloseable {
  private static final Logger logger = LoggerFactory.getLogger(IdempotencyInterceptor.class);
  private static final Set<String> COLLECTIONS = Set.of("", "operations");

  private final CallerResolver callers;
  private final Engine engine;
  private final Operations<Seen> operations;

  /** An operation as its caller may see it now. */
  record Seen(StoredOperation stored, State state, Operation message) {}

  OperationsService(Procedures procedures, CallerResolver callers, Engine engine) {
    this.callers = callers;
    this.engine = engine;
    this.operations =
        engine.operations(
            procedures.all().stream().filter(RecordedAnswer::isReadable).toList(), this::see);
  }

  /** Ends all waiting. */
  @Override
  public void close() {
    operations.close();
  }

  @Override
  public void getOperation(GetOperationRequest request, StreamObserver<Operation> observer) {
    answer(observer, () -> find(caller(), request.getName()).message());
  }

  @Override
  public void waitOperation(WaitOperationRequest request, StreamObserver<Operation> observer) {
    Duration limit = request.hasTimeout() ? WaitLimit.of(request.getTimeout()) : WaitLimit.most();
    OperationWait wait =
        new OperationWait(this, (ServerCallStreamObserver<Operation>) observer, limit);
    wait.begin(request.getName());
  }

  @Override
  public void listOperations(
      ListOperationsRequest request, StreamObserver<ListOperationsResponse> observer) {
    answer(
        observer,
        () -> {
          if (!COLLECTIONS.contains(request.getName())) {
            throw invalid("name is empty, or operations");
          }
          Caller caller = caller();
          return new OperationPage(operations, request).of(caller);
        });
  }

  @Override
  public void deleteOperation(DeleteOperationRequest request, StreamObserver<Empty> observer) {
    answer(
        observer,
        () -> {
          Caller caller = caller();
          StoredOperation stored = stored(caller, request.getName());
          if (!OperationState.isDone(stateOf(stored))) {
            throw refused(Refusal.operationUnfinished());
          }
          if (!operations.catalog().forget(caller, stored.id())) {
            throw refused(Refusal.operationUnknown());
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

  Engine engine() {
    return engine;
  }

  Operations<Seen> operations() {
    return operations;
  }

  Caller caller() {
    return callers.resolve().orElseThrow(() -> refused(Refusal.callerRequired()));
  }

  /** Returns the id in a name. Other names are answered like those of unknown operations. */
  private static UUID idOf(String name) {
    return KeyFormat.uuid()
        .canonicalize(name)
        .map(UUID::fromString)
        .orElseThrow(() -> refused(Refusal.operationUnknown()));
  }

  Seen find(Caller caller, String name) {
    return see(stored(caller, name));
  }

  private StoredOperation stored(Caller caller, String name) {
    return operations.catalog().find(caller, List.of(idOf(name))).stream()
        .findFirst()
        .orElseThrow(() -> refused(Refusal.operationUnknown()));
  }

  private Seen see(StoredOperation stored) {
    State state = stateOf(stored);
    return new Seen(
        stored, state, OperationMessage.of(stored, state, operations.procedure(stored)));
  }

  private State stateOf(StoredOperation stored) {
    return OperationState.of(stored.standing(), operations.procedure(stored));
  }

  static StatusRuntimeException refused(Refusal refusal) {
    return RefusalError.of(refusal, "name");
  }

  static StatusRuntimeException invalid(String why) {
    return Status.INVALID_ARGUMENT.withDescription(why).asRuntimeException();
  }

  private static <T> void answer(StreamObserver<T> observer, Supplier<T> work) {
    T response;
    try {
      response = work.get();
    } catch (RuntimeException failure) {
      observer.onError(errorOf(failure));
      return;
    }
    observer.onNext(response);
    observer.onCompleted();
  }

  /** Returns the error that the client gets for a failure. */
  static StatusRuntimeException errorOf(RuntimeException failure) {
    if (failure instanceof StatusRuntimeException said) {
      return said;
    }
    if (failure instanceof StoreException outage) {
      return refused(Refusal.storeUnavailable(outage.failureCause()));
    }
    logger.error("an operation cannot be read", failure);
    return refused(Refusal.recordUnreadable());
  }
}
