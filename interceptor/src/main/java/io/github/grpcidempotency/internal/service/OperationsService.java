package io.github.grpcidempotency.internal.service;

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
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.store.StoredOperation;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;

/**
 * A caller's operations, by the ids in the trailer {@code idempotency-operation}. A caller to whom
 * a replay is denied gets no answer here either. Operations of other callers are not found.
 */
public final class OperationsService extends OperationsGrpc.OperationsImplBase
    implements AutoCloseable {
  private static final Set<String> COLLECTIONS = Set.of("", "operations");

  private final CallerResolver callers;
  private final Engine engine;
  private final Operations<SeenOperation> operations;

  /**
   * Makes the service.
   *
   * @throws io.github.grpcidempotency.procedure.SetupException if the store does not find
   *     operations by id
   * @throws StoreException if the store cannot be reached
   */
  public OperationsService(Procedures procedures, CallerResolver callers, Engine engine) {
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
        new OperationWait(
            engine, operations, (ServerCallStreamObserver<Operation>) observer, limit);
    try {
      wait.begin(find(caller(), request.getName()));
    } catch (RuntimeException failure) {
      observer.onError(ServiceError.of(failure));
    }
  }

  @Override
  public void listOperations(
      ListOperationsRequest request, StreamObserver<ListOperationsResponse> observer) {
    answer(
        observer,
        () -> {
          if (!COLLECTIONS.contains(request.getName())) {
            throw ServiceError.invalid("name is empty, or operations");
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
          if (!OperationState.isDone(
              OperationState.of(stored.standing(), operations.procedure(stored)))) {
            throw ServiceError.refused(Refusal.operationUnfinished());
          }
          if (!operations.catalog().forget(caller, stored.id())) {
            throw ServiceError.refused(Refusal.operationUnknown());
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

  private Caller caller() {
    return callers.resolve().orElseThrow(() -> ServiceError.refused(Refusal.callerRequired()));
  }

  /** Returns the id in a name. Other names are answered like those of unknown operations. */
  private static UUID idOf(String name) {
    return KeyFormat.uuid()
        .canonicalize(name)
        .map(UUID::fromString)
        .orElseThrow(() -> ServiceError.refused(Refusal.operationUnknown()));
  }

  private SeenOperation find(Caller caller, String name) {
    return see(stored(caller, name));
  }

  private StoredOperation stored(Caller caller, String name) {
    return operations.catalog().find(caller, List.of(idOf(name))).stream()
        .findFirst()
        .orElseThrow(() -> ServiceError.refused(Refusal.operationUnknown()));
  }

  private SeenOperation see(StoredOperation stored) {
    return SeenOperation.of(stored, operations.procedure(stored));
  }

  private static <T> void answer(StreamObserver<T> observer, Supplier<T> work) {
    T response;
    try {
      response = work.get();
    } catch (RuntimeException failure) {
      observer.onError(ServiceError.of(failure));
      return;
    }
    observer.onNext(response);
    observer.onCompleted();
  }
}
