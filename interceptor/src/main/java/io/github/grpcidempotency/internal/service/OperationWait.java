package io.github.grpcidempotency.internal.service;

import com.google.longrunning.Operation;
import io.github.grpcidempotency.internal.decision.Refusal;
import io.github.grpcidempotency.internal.runtime.Engine;
import io.github.grpcidempotency.internal.runtime.InFlightWaiter;
import io.github.grpcidempotency.internal.runtime.Operations;
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

  private final Engine engine;
  private final Operations<SeenOperation> operations;
  private final Question question;
  private final ServerCallStreamObserver<Operation> observer;
  private final Context context = Context.current();
  private final long begun = System.nanoTime();
  private final Duration limit;
  private volatile Runnable giveUp = () -> {};

  OperationWait(
      Engine engine,
      Operations<SeenOperation> operations,
      Question question,
      ServerCallStreamObserver<Operation> observer,
      Duration limit) {
    this.engine = engine;
    this.operations = operations;
    this.question = question;
    this.observer = observer;
    this.limit = limit;
    observer.setOnCancelHandler(() -> giveUp.run());
  }

  /** Answers now, or waits; fails with what {@link ServiceError} makes of it. */
  void begin(SeenOperation seen) {
    StoredOperation stored = seen.stored();
    Duration left = left();
    if (left.isNegative() || left.isZero()) {
      answer(seen);
    } else if (seen.state() == State.STATE_RUNNING
        && stored.standing() instanceof ClaimResult.InFlight running) {
      awaitAnswer(seen, running, left);
    } else if (seen.state() == State.STATE_PROCESSING
        && stored.standing() instanceof ClaimResult.Recorded recorded) {
      awaitWork(seen, recorded, left);
    } else {
      answer(seen);
    }
  }

  private void awaitAnswer(SeenOperation seen, ClaimResult.InFlight running, Duration left) {
    StoredOperation stored = seen.stored();
    InFlightWaiter.Waiter waiter =
        engine
            .waiter()
            .await(
                stored.key(),
                running,
                left,
                () -> engine.find(stored.key(), seen.procedure()),
                (result, took) -> readAgain(stored));
    onCancel(waiter::cancel);
  }

  private void awaitWork(SeenOperation seen, ClaimResult.Recorded recorded, Duration left) {
    StoredOperation stored = seen.stored();
    Optional<OwnedResource> resource =
        recorded
            .outcome()
            .resourceId()
            .map(id -> new OwnedResource(stored.key().caller().userId(), id));
    boolean looksAgain = seen.procedure().deletes() && left.compareTo(BETWEEN_LOOKS) > 0;
    onCancel(
        operations.await(
            seen.procedure(),
            resource,
            looksAgain ? BETWEEN_LOOKS : left,
            () -> readAgain(stored),
            looksAgain ? () -> readAgain(stored) : () -> answer(seen)));
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
    operations.read(
        stored.key().caller(),
        stored.id(),
        context::wrap,
        found -> question.within(() -> considerAgain(found)),
        this::fail);
  }

  private void considerAgain(Optional<SeenOperation> found) {
    found.ifPresentOrElse(
        this::begin, () -> fail(ServiceError.refused(Refusal.operationUnknown())));
  }

  private void answer(SeenOperation seen) {
    question.answered(seen);
    observer.onNext(seen.message());
    observer.onCompleted();
  }

  private void fail(RuntimeException failure) {
    observer.onError(question.failed(failure));
  }
}
