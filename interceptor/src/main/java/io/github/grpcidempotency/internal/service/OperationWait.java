package io.github.grpcidempotency.internal.service;

import com.google.longrunning.Operation;
import io.github.grpcidempotency.internal.decision.Refusal;
import io.github.grpcidempotency.internal.runtime.Drain;
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
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * One call that waits for an operation, without a thread or a connection: first for the end of the
 * call, if it is still running, and then for the end of the work behind its answer. When the limit
 * is over, it answers with the operation as it was last read.
 */
final class OperationWait implements Drain.Call {
  /** How often a deletion is checked: when its resource vanishes, nothing else reports its end. */
  private static final Duration BETWEEN_LOOKS = Duration.ofSeconds(1);

  private final Drain drain;
  private final Engine engine;
  private final Operations<SeenOperation> operations;
  private final Question question;
  private final ServerCallStreamObserver<Operation> observer;
  private final Context context = Context.current();
  private final long begun = System.nanoTime();
  private final Duration limit;
  private final AtomicBoolean ended = new AtomicBoolean();
  private volatile Runnable giveUp = () -> {};

  OperationWait(
      Drain drain,
      Engine engine,
      Operations<SeenOperation> operations,
      Question question,
      ServerCallStreamObserver<Operation> observer,
      Duration limit) {
    this.drain = drain;
    this.engine = engine;
    this.operations = operations;
    this.question = question;
    this.observer = observer;
    this.limit = limit;
    observer.setOnCancelHandler(
        () -> {
          drain.remove(this);
          giveUp.run();
        });
  }

  @Override
  public void stopWaiting() {
    giveUp.run();
    question.within(() -> fail(ServiceError.refused(Refusal.shuttingDown(question.operation()))));
  }

  @Override
  public void cutOff() {
    stopWaiting();
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
    drain.add(this);
    if (ended.get() || observer.isCancelled()) {
      drain.remove(this);
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
    Operation message = seen.message();
    if (isFirstEnd()) {
      question.answered(seen);
      observer.onNext(message);
      observer.onCompleted();
    }
  }

  private void fail(RuntimeException failure) {
    if (isFirstEnd()) {
      observer.onError(question.failed(failure));
    }
  }

  private boolean isFirstEnd() {
    drain.remove(this);
    return !ended.getAndSet(true);
  }
}
