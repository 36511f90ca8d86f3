package io.github.grpcidempotency.grpc;

import io.github.grpcidempotency.internal.runtime.Engine;
import io.github.grpcidempotency.internal.runtime.Operation;
import io.github.grpcidempotency.store.StoreException;
import io.grpc.Context;
import io.grpc.ServerCall;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A call whose claim is sent with its handler's first statement, so the handler may run although
 * the claim is not won. Only the thread that runs the handler may send statements, and only until
 * the handler returns. The claim is confirmed on that thread when the handler returns. If the claim
 * is won, the call is settled like any other. If not, the handler has changed nothing in the store,
 * and the call starts over. The handler's answer, its later messages and its exception are dropped.
 * The handler sees a cancelled call.
 *
 * <p>An answer that any thread sends before the handler returns is kept until the handler returns.
 * If the handler throws, the answer does not count. An answer that is sent later is settled at
 * once. If the call is given up before the handler returns, it is rolled back at once, and does not
 * start over.
 *
 * <p>Thread-safe.
 */
final class LateCall<RequestT, ResponseT> extends ClaimedCall<RequestT, ResponseT> {
  private static final Logger logger = LoggerFactory.getLogger(IdempotencyInterceptor.class);

  private enum State {
    /** The handler has not returned. */
    RUNNING,
    /** The handler has returned, and its claim is being confirmed. */
    CONFIRMING,
    /** The claim is won. */
    WON,
    /** The claim is lost, and the handler's answer is dropped. */
    DROPPED,
    /** The call ended before the handler returned. */
    GIVEN_UP
  }

  private final Engine engine;
  private final Operation operation;
  private final Duration claimTook;
  private final Context handlerContext;
  private final Consumer<Optional<StoreException>> startOver;
  private State state = State.RUNNING;
  private Optional<Runnable> kept = Optional.empty();
  private Optional<StoreException> outage = Optional.empty();

  /**
   * Creates a call.
   *
   * @param startOver continues without the handler; gets the failure if the claim could not be
   *     confirmed, or empty if it was not won
   */
  LateCall(
      Engine engine,
      Operation operation,
      String keyName,
      ServerCall<RequestT, ResponseT> call,
      Context handlerContext,
      Duration claimTook,
      Consumer<Optional<StoreException>> startOver) {
    super(engine, operation, keyName, call, handlerContext, claimTook);
    this.engine = engine;
    this.operation = operation;
    this.claimTook = claimTook;
    this.handlerContext = handlerContext;
    this.startOver = startOver;
  }

  @Override
  public void closed(RecordingCall.Answer<ResponseT> answer) {
    ended(() -> super.closed(answer));
  }

  @Override
  public void broken(Runnable leaveToGrpc) {
    ended(() -> super.broken(leaveToGrpc));
  }

  @Override
  public void unanswered() {
    if (isGivenUp()) {
      super.unanswered();
    } else {
      ended(super::unanswered);
    }
  }

  private synchronized boolean isGivenUp() {
    boolean running = state == State.RUNNING;
    if (running) {
      state = State.GIVEN_UP;
    }
    return running;
  }

  /** Settles the end of the handler now, or after the handler has returned. */
  private void ended(Runnable settlement) {
    if (mayBeSettled(settlement)) {
      settlement.run();
    }
  }

  private synchronized boolean mayBeSettled(Runnable settlement) {
    if ((state == State.RUNNING || state == State.CONFIRMING) && kept.isEmpty()) {
      kept = Optional.of(settlement);
    }
    return state == State.WON;
  }

  @Override
  void handlerReturned() {
    if (!hasReturned()) {
      return;
    }
    if (!confirm()) {
      startOver.accept(outage);
      return;
    }
    won().ifPresent(handlerContext::run);
    super.handlerReturned();
  }

  @Override
  boolean handlerThrew(Throwable thrown) {
    if (!hasReturned()) {
      return super.handlerThrew(thrown);
    }
    if (confirm()) {
      return failInAnyCase();
    }
    startOver.accept(outage);
    return true;
  }

  /** Notes that the handler has returned. Returns whether its result counts. */
  private synchronized boolean hasReturned() {
    boolean counts = state == State.RUNNING;
    if (counts) {
      state = State.CONFIRMING;
    }
    return counts;
  }

  /** Finds out whether the claim is won, after the handler has returned or thrown. */
  private boolean confirm() {
    boolean confirmed = false;
    try {
      confirmed = persist(() -> engine.confirm(operation, claimTook));
    } catch (StoreException unasked) {
      outage = Optional.of(unasked);
    }
    if (!confirmed) {
      logger.debug(
          "{}: dropped the result of the handler of operation {}, because its claim was not won",
          operation.procedure().name(),
          operation.claim().operationId());
      dropped();
      dropRecording();
    }
    return confirmed;
  }

  /** Returns the settlement of the handler's end, if the handler has ended. */
  private synchronized Optional<Runnable> won() {
    state = State.WON;
    return kept;
  }

  private synchronized void dropped() {
    state = State.DROPPED;
  }
}
