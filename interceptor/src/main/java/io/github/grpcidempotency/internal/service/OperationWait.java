package io.github.grpcidempotency.internal.service;

import com.google.longrunning.Operation;
import io.github.grpcidempotency.event.RefusalReason;
import io.github.grpcidempotency.internal.decision.Refusal;
import io.github.grpcidempotency.internal.record.RefusedException;
import io.github.grpcidempotency.internal.runtime.Drain;
import io.github.grpcidempotency.internal.runtime.Engine;
import io.github.grpcidempotency.internal.runtime.InFlightWaiter;
import io.github.grpcidempotency.internal.runtime.Operations;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.proto.v1.OperationMetadata.State;
import io.github.grpcidempotency.store.spi.ClaimResult;
import io.github.grpcidempotency.store.spi.OperationCatalog.OwnedResource;
import io.github.grpcidempotency.store.spi.StoredOperation;
import io.grpc.Context;
import io.grpc.stub.ServerCallStreamObserver;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * One {@code WaitOperation} call, which waits without a thread or a connection: first for the end
 * of the operation's call, if it is still running, and then for the end of the asynchronous work.
 * If the time limit is over, or too many calls wait, the answer contains the operation in its
 * current state.
 */
final class OperationWait implements Drain.Call, InFlightWaiter.Waiting {
  /** How often a deletion is checked, because no other event reports the end of its resource. */
  private static final Duration BETWEEN_LOOKS_AT_DELETION = Duration.ofSeconds(1);

  /**
   * How often a creation is checked, because its resource may be deleted before its work has ended.
   */
  private static final Duration BETWEEN_LOOKS = Duration.ofSeconds(10);

  private final Drain drain;
  private final Engine engine;
  private final Operations operations;
  private final OperationsCall call;
  private final Caller caller;
  private final UUID id;
  private final ServerCallStreamObserver<Operation> observer;
  private final Context context = Context.current();
  private final long begun = System.nanoTime();
  private final Duration limit;
  private final AtomicBoolean ended = new AtomicBoolean();
  private volatile Runnable giveUp = () -> {};
  private volatile boolean over;

  OperationWait(
      Drain drain,
      Engine engine,
      Operations operations,
      OperationsCall call,
      StoredOperation stored,
      ServerCallStreamObserver<Operation> observer,
      Duration limit) {
    this.drain = drain;
    this.engine = engine;
    this.operations = operations;
    this.call = call;
    this.caller = stored.key().caller();
    this.id = stored.id();
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
    call.within(() -> fail(new RefusedException(Refusal.shuttingDown(call.operation()))));
  }

  /** Answers now, or waits. Failures are converted by {@link ServiceError}. */
  void begin(VisibleOperation seen) {
    StoredOperation stored = seen.stored();
    Duration left = left();
    if (over || left.isNegative() || left.isZero()) {
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

  private void awaitAnswer(VisibleOperation seen, ClaimResult.InFlight running, Duration left) {
    InFlightWaiter.Waiter waiter =
        engine.waiter().toRead(seen.stored().key(), seen.procedure(), this);
    giveUp = waiter::cancel;
    waiter.begin(running, left);
    giveUpIfEnded();
  }

  @Override
  public void found(ClaimResult result, Duration took) {
    readAgain();
  }

  @Override
  public void free() {
    readAgain();
  }

  /** The time limit is over, or too many calls wait. Does not wait again. */
  @Override
  public void over(ClaimResult.InFlight met) {
    over = true;
    readAgain();
  }

  private void awaitWork(VisibleOperation seen, ClaimResult.Recorded recorded, Duration left) {
    // The answer itself must not stay in memory while the call waits.
    Operation unfinished = seen.message();
    // Without a resource there is no asynchronous work.
    OwnedResource resource =
        new OwnedResource(caller, recorded.outcome().resourceId().orElseThrow());
    Duration look = seen.procedure().deletes() ? BETWEEN_LOOKS_AT_DELETION : BETWEEN_LOOKS;
    boolean waits =
        operations
            .work()
            .await(
                seen.procedure(),
                resource,
                left.compareTo(look) < 0 ? left : look,
                this::readAgain,
                leave -> giveUp = leave);
    if (waits) {
      giveUpIfEnded();
    } else {
      answerUnfinished(unfinished);
    }
  }

  private Duration left() {
    return limit.minusNanos(System.nanoTime() - begun);
  }

  /** Ends the wait at once if the call has already ended. */
  private void giveUpIfEnded() {
    drain.add(this);
    if (ended.get() || observer.isCancelled()) {
      drain.remove(this);
      giveUp.run();
    }
  }

  private void readAgain() {
    operations
        .reader()
        .read(
            caller,
            id,
            found -> context.run(() -> call.within(() -> considerAgain(found))),
            failure -> context.run(() -> fail(failure)));
  }

  /** Runs all steps that depend on the caller, within the caller's own call. */
  private void considerAgain(Optional<StoredOperation> found) {
    VisibleOperation seen;
    try {
      StoredOperation stored =
          found.orElseThrow(() -> RefusedException.of(RefusalReason.OPERATION_UNKNOWN));
      seen = call.see(stored, operations.procedure(stored));
    } catch (Throwable failure) { // no other code would answer the call
      fail(failure);
      return;
    }
    begin(seen);
  }

  private void answer(VisibleOperation seen) {
    Operation message = seen.message();
    if (isFirstEnd()) {
      call.answered(seen);
      send(message);
    }
  }

  private void answerUnfinished(Operation unfinished) {
    if (isFirstEnd()) {
      send(unfinished);
    }
  }

  private void send(Operation operation) {
    observer.onNext(operation);
    observer.onCompleted();
  }

  private void fail(Throwable failure) {
    if (isFirstEnd()) {
      observer.onError(call.failed(failure));
    }
  }

  private boolean isFirstEnd() {
    drain.remove(this);
    return !ended.getAndSet(true);
  }
}
