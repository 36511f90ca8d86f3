package io.github.grpcidempotency.grpc;

import com.google.longrunning.Operation;
import io.github.grpcidempotency.internal.decision.Refusal;
import io.github.grpcidempotency.internal.runtime.InFlightWaiter;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.proto.v1.OperationMetadata.State;
import io.github.grpcidempotency.store.ClaimResult;
import io.github.grpcidempotency.store.OwnedResource;
import io.github.grpcidempotency.store.StoredOperation;
import io.grpc.Context;
import io.grpc.stub.ServerCallStreamObserver;
import java.time.Duration;
import java.util.Optional;

/**
 * One call that waits for an operation, without a thread or a connection: first for the end of the
 * call, if it is still running, and then for the end of the work behind its answer. When the limit
 * is over, it answers with the operation as it was last read.
 */
final class OperationWait {
  /** How often a deletion is checked: when its resource vanishes, nothing else reports its end. */
  private static final Duration BETWEEN_LOOKS = Duration.ofSeconds(1);

  private final OperationsService service;
  private final ServerCallStreamObserver<Operation> observer;
  private final Context context = Context.current();
  private final long begun = System.nanoTime();
  private final Duration limit;
  private volatile Runnable giveUp = () -> {};

  OperationWait(
      OperationsService service, ServerCallStreamObserver<Operation> observer, Duration limit) {
    this.service = service;
    this.observer = observer;
    this.limit = limit;
    observer.setOnCancelHandler(() -> giveUp.run());
  }

  void begin(String name) {
    try {
      consider(service.find(service.caller(), name));
    } catch (RuntimeException failure) {
      fail(failure);
    }
  }

  private void consider(OperationsService.Seen seen) {
    StoredOperation stored = seen.stored();
    Duration left = left();
    if (left.isNegative() || left.isZero()) {
      answer(seen.message());
    } else if (seen.state() == State.STATE_RUNNING
        && stored.standing() instanceof ClaimResult.InFlight running) {
      awaitAnswer(stored, running, left);
    } else if (seen.state() == State.STATE_PROCESSING
        && stored.standing() instanceof ClaimResult.Recorded recorded) {
      awaitWork(seen, recorded, left);
    } else {
      answer(seen.message());
    }
  }

  private void awaitAnswer(StoredOperation stored, ClaimResult.InFlight running, Duration left) {
    Procedure procedure = service.operations().procedure(stored);
    InFlightWaiter.Waiter waiter =
        service
            .engine()
            .waiter()
            .await(
                stored.key(),
                running,
                left,
                () -> service.engine().find(stored.key(), procedure),
                result -> readAgain(stored));
    onCancel(waiter::cancel);
  }

  private void awaitWork(
      OperationsService.Seen seen, ClaimResult.Recorded recorded, Duration left) {
    StoredOperation stored = seen.stored();
    Optional<OwnedResource> resource =
        recorded
            .outcome()
            .resourceId()
            .map(id -> new OwnedResource(stored.key().caller().userId(), id));
    Procedure procedure = service.operations().procedure(stored);
    boolean looksAgain = procedure.deletes() && left.compareTo(BETWEEN_LOOKS) > 0;
    Operation message = seen.message();
    onCancel(
        service
            .operations()
            .await(
                procedure,
                resource,
                looksAgain ? BETWEEN_LOOKS : left,
                () -> readAgain(stored),
                looksAgain ? () -> readAgain(stored) : () -> answer(message)));
  }

  private Duration left() {
    return limit.minusNanos(System.nanoTime() - begun);
  }

  /** Sets how to give up waiting. If the call has already been cancelled, it gives up at once. */
  private void onCancel(Runnable giveUp) {
    this.giveUp = giveUp;
    if (observer.isCancelled()) {
      giveUp.run();
    }
  }

  private void readAgain(StoredOperation stored) {
    service
        .operations()
        .read(stored.key().caller(), stored.id(), context::wrap, this::considerAgain, this::fail);
  }

  private void considerAgain(Optional<OperationsService.Seen> found) {
    found.ifPresentOrElse(
        this::consider, () -> fail(OperationsService.refused(Refusal.operationUnknown())));
  }

  private void answer(Operation message) {
    observer.onNext(message);
    observer.onCompleted();
  }

  private void fail(RuntimeException failure) {
    observer.onError(OperationsService.errorOf(failure));
  }
}
