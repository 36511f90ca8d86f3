package io.github.grpcidempotency.grpc;

import io.github.grpcidempotency.internal.runtime.Engine;
import io.github.grpcidempotency.internal.runtime.Operation;
import io.github.grpcidempotency.store.StoreException;
import io.grpc.Context;
import io.grpc.ServerCall;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A call whose claim travels with its handler's first statement, so that its handler may run in
 * vain. Once the handler has ended, whatever its end, the claim is confirmed. If it is won, the
 * call is settled as any other. If not, nothing of the handler remains in the store, and the call
 * starts over without it:
 *
 * <ul>
 *   <li>What the handler has answered or thrown is dropped, and so is what it still sends. It hears
 *       that its call was cancelled.
 *   <li>The call goes on once the handler has returned, never within its frames, and on the thread
 *       that it has returned on. If the handler ends on another thread after that, the call goes on
 *       elsewhere.
 *   <li>A handler that has returned, and was stopped, is not waited for.
 * </ul>
 *
 * <p>The first end of the handler counts. Thread-safe.
 */
final class LateCall<RequestT, ResponseT> extends ClaimedCall<RequestT, ResponseT> {
  private static final Logger logger = LoggerFactory.getLogger(IdempotencyInterceptor.class);

  private enum State {
    /** The handler has not ended. */
    RUNNING,
    /** The handler has ended, and its claim is being confirmed. */
    CONFIRMING,
    /** The claim is won, or the handler was given up: this end of the handler counts. */
    ENDED,
    /** The handler has run in vain. */
    DROPPED
  }

  private final Engine engine;
  private final Operation operation;
  private final Duration claimTook;
  private final Consumer<Optional<StoreException>> startOver;
  private final Supplier<Executor> elsewhere;
  private State state = State.RUNNING;
  private Optional<StoreException> outage = Optional.empty();
  private Optional<Executor> rest = Optional.empty();

  /**
   * Makes a call.
   *
   * @param startOver goes on without the handler; gets why the claim could not be confirmed, or
   *     empty if it was not won
   * @param elsewhere finds out, on the thread that serves the call, where else it can go on
   */
  LateCall(
      Engine engine,
      Operation operation,
      String keyName,
      ServerCall<RequestT, ResponseT> call,
      Context handlerContext,
      Duration claimTook,
      Consumer<Optional<StoreException>> startOver,
      Supplier<Executor> elsewhere) {
    super(engine, operation, keyName, call, handlerContext, claimTook);
    this.engine = engine;
    this.operation = operation;
    this.claimTook = claimTook;
    this.startOver = startOver;
    this.elsewhere = elsewhere;
  }

  @Override
  public void closed(RecordingCall.Answer<ResponseT> answer) {
    if (confirm()) {
      super.closed(answer);
    }
  }

  @Override
  public void broken(Runnable leaveToGrpc) {
    if (confirm()) {
      super.broken(leaveToGrpc);
    }
  }

  /**
   * A claim that is bound to this thread is confirmed, because a call that its thread no longer
   * waits for may start over. Any other is not: a statement of its handler may still use it.
   */
  @Override
  public void unanswered() {
    if (engine.bindsThreads(operation.procedure())) {
      if (confirm()) {
        super.unanswered();
      }
    } else if (isFirstEnd()) {
      ended();
      super.unanswered();
    }
  }

  @Override
  void handlerReturned() {
    if (operation.claim().isPreempted()) {
      boolean unused = confirm();
    }
    super.handlerReturned();
    if (returned() == State.DROPPED) {
      startOver.accept(outage);
    }
  }

  @Override
  boolean handlerThrew(Throwable thrown) {
    if (confirm()) {
      return failInAnyCase();
    }
    return switch (returned()) {
      case ENDED -> super.handlerThrew(thrown);
      case DROPPED -> {
        startOver.accept(outage);
        yield true;
      }
      case RUNNING, CONFIRMING -> true; // it has answered on another thread, which goes on
    };
  }

  /** Returns what has become of the call on the thread that has run its handler. */
  private synchronized State returned() {
    if (state == State.RUNNING || state == State.CONFIRMING) {
      rest = Optional.of(elsewhere.get());
    }
    return state;
  }

  /**
   * Confirms the claim, now that the handler has ended.
   *
   * @return whether the claim is won, and this end of the handler counts
   */
  private boolean confirm() {
    if (!isFirstEnd()) {
      return false;
    }
    Optional<StoreException> failure = Optional.empty();
    boolean won = false;
    try {
      won = persist(() -> engine.confirm(operation, claimTook));
    } catch (StoreException unasked) {
      failure = Optional.of(unasked);
    }
    if (won) {
      ended();
    } else {
      logger.debug(
          "{}: the handler of operation {} has run in vain",
          operation.procedure().name(),
          operation.claim().operationId());
      drop(failure);
    }
    return won;
  }

  private synchronized boolean isFirstEnd() {
    boolean first = state == State.RUNNING;
    if (first) {
      state = State.CONFIRMING;
    }
    return first;
  }

  private synchronized void ended() {
    state = State.ENDED;
  }

  private void drop(Optional<StoreException> failure) {
    dropRecording();
    dropped(failure).ifPresent(sequence -> sequence.execute(() -> startOver.accept(failure)));
  }

  /** Returns where the call goes on, if its handler has returned already. */
  private synchronized Optional<Executor> dropped(Optional<StoreException> failure) {
    state = State.DROPPED;
    outage = failure;
    return rest;
  }
}
