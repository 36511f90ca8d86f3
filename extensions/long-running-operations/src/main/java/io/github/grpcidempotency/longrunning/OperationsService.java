package io.github.grpcidempotency.longrunning;

import com.google.longrunning.CancelOperationRequest;
import com.google.longrunning.DeleteOperationRequest;
import com.google.longrunning.GetOperationRequest;
import com.google.longrunning.ListOperationsRequest;
import com.google.longrunning.ListOperationsResponse;
import com.google.longrunning.Operation;
import com.google.longrunning.OperationsGrpc;
import com.google.longrunning.WaitOperationRequest;
import com.google.protobuf.Duration;
import com.google.protobuf.Empty;
import io.github.grpcidempotency.event.RefusalReason;
import io.github.grpcidempotency.grpc.spi.OperationAccess;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.KeyFormat;
import io.github.grpcidempotency.spi.StoredOperation;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;

/**
 * Serves a caller's operations, by the ids in the trailer {@code idempotency-operation}. A caller
 * to whom a replay is denied gets no answer from this service either. Operations of other callers
 * are not found.
 */
final class OperationsService extends OperationsGrpc.OperationsImplBase {
  private static final Set<String> COLLECTIONS = Set.of("", "operations");

  /** Requests the longest wait that the server and the deadline allow. */
  private static final Duration LONGEST =
      Duration.newBuilder().setSeconds(java.time.Duration.ofDays(1).toSeconds()).build();

  private final OperationAccess access;
  private final Map<Optional<String>, StoreOperations> operations;

  OperationsService(OperationAccess access) {
    this.access = access;
    Map<Optional<String>, StoreOperations> opened = new HashMap<>();
    access
        .stores()
        .forEach((shard, store) -> opened.put(shard, StoreOperations.open(access, shard, store)));
    this.operations = opened;
    access.onClose(() -> opened.values().forEach(StoreOperations::close));
  }

  /** The request, its caller, and the operations of the caller's shard. */
  record Asked(OperationAccess.Request request, Caller caller, StoreOperations operations) {}

  @Override
  public void getOperation(GetOperationRequest request, StreamObserver<Operation> observer) {
    answer(
        observer,
        call -> {
          VisibleOperation seen = VisibleOperation.of(call, stored(ask(call), request.getName()));
          seen.report(call);
          return seen.message();
        });
  }

  @Override
  public void waitOperation(WaitOperationRequest request, StreamObserver<Operation> observer) {
    OperationAccess.Request call = begin();
    try {
      java.time.Duration limit =
          call.waitLimit(request.hasTimeout() ? request.getTimeout() : LONGEST);
      Asked asked = ask(call);
      VisibleOperation seen = VisibleOperation.of(call, stored(asked, request.getName()));
      new OperationWait(
              access, asked, seen.stored(), (ServerCallStreamObserver<Operation>) observer, limit)
          .begin(seen);
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
            throw invalid("name must be empty or operations");
          }
          return new OperationPage(access.procedures(), request, ask(call)).read();
        });
  }

  @Override
  public void deleteOperation(DeleteOperationRequest request, StreamObserver<Empty> observer) {
    answer(
        observer,
        call -> {
          Asked asked = ask(call);
          StoredOperation stored = stored(asked, request.getName());
          if (!VisibleOperation.isDone(VisibleOperation.stateOf(call, stored))) {
            throw call.refusal(RefusalReason.OPERATION_UNFINISHED);
          }
          if (!asked.operations().catalog().forget(asked.caller(), stored.id())) {
            throw unknown(call);
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

  /** Returns the error of a request that is not valid. */
  static StatusRuntimeException invalid(String why) {
    return Status.INVALID_ARGUMENT.withDescription(why).asRuntimeException();
  }

  static RuntimeException unknown(OperationAccess.Request call) {
    return call.refusal(RefusalReason.OPERATION_UNKNOWN);
  }

  private OperationAccess.Request begin() {
    return access.begin(OperationsGrpc.SERVICE_NAME);
  }

  private Asked ask(OperationAccess.Request call) {
    Caller caller = call.caller();
    return new Asked(call, caller, Objects.requireNonNull(operations.get(call.shard())));
  }

  /**
   * Returns the operation with a name. Names are case-sensitive (AIP-122). A name that is no id
   * gets the same answer as the name of an unknown operation.
   */
  private static StoredOperation stored(Asked asked, String name) {
    OperationAccess.Request call = asked.request();
    UUID id =
        KeyFormat.uuid()
            .canonicalize(name)
            .filter(name::equals)
            .map(UUID::fromString)
            .orElseThrow(() -> unknown(call));
    StoredOperation stored =
        asked.operations().catalog().find(asked.caller(), List.of(id)).stream()
            .findFirst()
            .orElseThrow(() -> unknown(call));
    call.about(stored);
    return stored;
  }

  private <T> void answer(StreamObserver<T> observer, Function<OperationAccess.Request, T> work) {
    OperationAccess.Request call = begin();
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
