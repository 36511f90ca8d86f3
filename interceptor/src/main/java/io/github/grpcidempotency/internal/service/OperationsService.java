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
import io.github.grpcidempotency.procedure.Procedure;
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
import java.util.function.Function;

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
            procedures.all().stream().filter(RecordedAnswer::isReadable).toList(),
            stored -> see(stored, new Question(engine)));
  }

  /** Ends all waiting. */
  @Override
  public void close() {
    operations.close();
  }

  @Override
  public void getOperation(GetOperationRequest request, StreamObserver<Operation> observer) {
    answer(
        observer,
        question -> {
          SeenOperation seen = find(question, request.getName());
          question.answered(seen);
          return seen.message();
        });
  }

  @Override
  public void waitOperation(WaitOperationRequest request, StreamObserver<Operation> observer) {
    Question question = new Question(engine);
    Duration limit = request.hasTimeout() ? WaitLimit.of(request.getTimeout()) : WaitLimit.most();
    OperationWait wait =
        new OperationWait(
            engine, operations, question, (ServerCallStreamObserver<Operation>) observer, limit);
    try {
      wait.begin(find(question, request.getName()));
    } catch (RuntimeException failure) {
      observer.onError(question.failed(failure));
    }
  }

  @Override
  public void listOperations(
      ListOperationsRequest request, StreamObserver<ListOperationsResponse> observer) {
    answer(
        observer,
        question -> {
          if (!COLLECTIONS.contains(request.getName())) {
            throw ServiceError.invalid("name is empty, or operations");
          }
          Caller caller = caller(question);
          return new OperationPage(operations, request, question).of(caller);
        });
  }

  @Override
  public void deleteOperation(DeleteOperationRequest request, StreamObserver<Empty> observer) {
    answer(
        observer,
        question -> {
          Caller caller = caller(question);
          StoredOperation stored = stored(question, caller, request.getName());
          Procedure procedure = operations.procedure(stored);
          if (!OperationState.isDone(
              OperationState.of(
                  stored.standing(),
                  procedure,
                  failure -> question.statusUnknown(stored, procedure, failure)))) {
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

  private Caller caller(Question question) {
    Caller caller =
        callers.resolve().orElseThrow(() -> ServiceError.refused(Refusal.callerRequired()));
    question.by(caller);
    return caller;
  }

  /** Returns the id in a name. Other names are answered like those of unknown operations. */
  private static UUID idOf(String name) {
    return KeyFormat.uuid()
        .canonicalize(name)
        .map(UUID::fromString)
        .orElseThrow(() -> ServiceError.refused(Refusal.operationUnknown()));
  }

  private SeenOperation find(Question question, String name) {
    return see(stored(question, caller(question), name), question);
  }

  private StoredOperation stored(Question question, Caller caller, String name) {
    StoredOperation stored =
        operations.catalog().find(caller, List.of(idOf(name))).stream()
            .findFirst()
            .orElseThrow(() -> ServiceError.refused(Refusal.operationUnknown()));
    question.about(stored, operations.procedure(stored));
    return stored;
  }

  private SeenOperation see(StoredOperation stored, Question question) {
    Procedure procedure = operations.procedure(stored);
    return SeenOperation.of(
        stored, procedure, failure -> question.statusUnknown(stored, procedure, failure));
  }

  private <T> void answer(StreamObserver<T> observer, Function<Question, T> work) {
    Question question = new Question(engine);
    T response;
    try {
      response = work.apply(question);
    } catch (RuntimeException failure) {
      observer.onError(question.failed(failure));
      return;
    }
    observer.onNext(response);
    observer.onCompleted();
  }
}
