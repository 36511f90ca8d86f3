package io.github.grpcidempotency.longrunning;

import com.google.longrunning.Operation;
import io.github.grpcidempotency.grpc.spi.OperationAccess;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.proto.v1.OperationMetadata.State;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.OperationCatalog.OwnedResource;
import io.github.grpcidempotency.spi.StoredOperation;
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
final class OperationWait {
  /** How often a deletion is checked, because no other event reports the end of its resource. */
  private static final Duration BETWEEN_LOOKS_AT_DELETION = Duration.ofSeconds(1);

  /**
   * How often a creation is checked, because its resource may be deleted before its work has ended.
   */
  private static final Duration BETWEEN_LOOKS = Duration.ofSeconds(10);

  private final OperationAccess access;
  private final OperationsService.Asked asked;
  private final OperationAccess.Request request;
  private final UUID id;
  private final ServerCallStreamObserver<Operation> observer;
  private final Context context = Context.current();
  private final long begun = System.nanoTime();
  private final Duration limit;
  private final AtomicBoolean ended = new AtomicBoolean();
  private volatile Runnable giveUp = () -> {};
  private volatile boolean over;

  OperationWait(
      OperationAccess access,
      OperationsService.Asked asked,
      StoredOperation stored,
      ServerCallStreamObserver<Operation> observer,
      Duration limit) {
    this.access = access;
    this.asked = asked;
    this.request = asked.request();
    this.id = stored.id();
    this.observer = observer;
    this.limit = limit;
    observer.setOnCancelHandler(this::leave);
  }

  /** Answers now, or waits. Failures are converted by {@link OperationAccess.Request#failed}. */
  void begin(VisibleOperation seen) {
    StoredOperation stored = seen.stored();
    Duration left = left();
    if (over || left.isNegative() || left.isZero()) {
      answer(seen);
    } else if (seen.state() == State.STATE_RUNNING) {
      request.await(stored, left, leave -> giveUp = leave, this::ended);
      leaveIfEnded();
    } else if (seen.state() == State.STATE_PROCESSING
        && stored.standing() instanceof ClaimResult.Recorded recorded) {
      awaitWork(seen, recorded, left);
    } else {
      answer(seen);
    }
  }

  /** If the time limit is over, or too many calls wait, does not wait again. */
  private void ended(boolean overNow) {
    if (overNow) {
      over = true;
    }
    readAgain();
  }

  private void awaitWork(VisibleOperation seen, ClaimResult.Recorded recorded, Duration left) {
    // The answer itself must not stay in memory while the call waits.
    Operation unfinished = seen.message();
    // Without a resource there is no asynchronous work.
    OwnedResource resource =
        new OwnedResource(asked.caller(), recorded.outcome().resourceId().orElseThrow());
    Procedure procedure = WorkWatch.procedureOf(access.procedures(), seen.stored().procedure());
    Duration look = procedure.deletes() ? BETWEEN_LOOKS_AT_DELETION : BETWEEN_LOOKS;
    boolean waits =
        asked
            .operations()
            .work()
            .await(
                procedure,
                resource,
                left.compareTo(look) < 0 ? left : look,
                this::readAgain,
                leave -> giveUp = leave);
    if (waits) {
      leaveIfEnded();
    } else {
      answerUnfinished(unfinished);
    }
  }

  private Duration left() {
    return limit.minusNanos(System.nanoTime() - begun);
  }

  /** Ends the wait at once if the call has already ended. */
  private void leaveIfEnded() {
    request.waiting(
        refusal -> {
          giveUp.run();
          fail(refusal);
        });
    if (ended.get() || observer.isCancelled()) {
      leave();
    }
  }

  private void leave() {
    request.answered();
    giveUp.run();
  }

  private void readAgain() {
    asked
        .operations()
        .reader()
        .read(
            asked.caller(),
            id,
            found -> context.run(() -> request.within(() -> considerAgain(found))),
            failure -> context.run(() -> fail(failure)));
  }

  /** Runs all steps that depend on the caller, within the caller's own call. */
  private void considerAgain(Optional<StoredOperation> found) {
    try {
      begin(
          VisibleOperation.of(
              request, found.orElseThrow(() -> OperationsService.unknown(request))));
    } catch (Throwable failure) { // no other code would answer the call
      fail(failure);
    }
  }

  private void answer(VisibleOperation seen) {
    end(
        () -> {
          seen.report(request);
          send(seen.message());
        });
  }

  private void answerUnfinished(Operation unfinished) {
    end(() -> send(unfinished));
  }

  /** Answers the call; with an error if the answer cannot be sent. */
  private void end(Runnable answer) {
    if (isFirstEnd()) {
      try {
        answer.run();
      } catch (Throwable failure) {
        observer.onError(request.failed(failure));
      }
    }
  }

  private void send(Operation operation) {
    observer.onNext(operation);
    observer.onCompleted();
  }

  private void fail(Throwable failure) {
    if (isFirstEnd()) {
      observer.onError(request.failed(failure));
    }
  }

  private boolean isFirstEnd() {
    request.answered();
    return !ended.getAndSet(true);
  }
}
