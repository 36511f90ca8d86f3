package io.github.grpcidempotency.call.internal;

import io.github.grpcidempotency.event.RefusalReason;
import io.github.grpcidempotency.event.UnprotectedCause;
import io.github.grpcidempotency.event.WaitEvent;
import io.github.grpcidempotency.internal.context.OperationContext;
import io.github.grpcidempotency.internal.decision.ClaimDecider;
import io.github.grpcidempotency.internal.decision.Decision;
import io.github.grpcidempotency.internal.decision.FailureDecider;
import io.github.grpcidempotency.internal.decision.Refusal;
import io.github.grpcidempotency.internal.engine.Drain;
import io.github.grpcidempotency.internal.engine.Engine;
import io.github.grpcidempotency.internal.event.CallEvents;
import io.github.grpcidempotency.internal.record.KeyedRequest;
import io.github.grpcidempotency.internal.record.RefusedException;
import io.github.grpcidempotency.internal.record.Replay;
import io.github.grpcidempotency.internal.waiting.InFlightWaiter;
import io.github.grpcidempotency.procedure.OutagePolicy;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.store.StoreException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One call with a key, from its claim to its answer, for every {@link Transport}. The methods
 * follow the order of the steps:
 *
 * <ol>
 *   <li>{@link #start}: the call can be refused from now on if its server stops.
 *   <li>{@link #claim}: claim the key.
 *   <li>{@link #decide}: decide, given the result of the claim ({@link ClaimDecider}), or the
 *       failure of the store ({@link FailureDecider}).
 *   <li>if the claim was won, run the handler, settle its end, and send its answer ({@link
 *       KeyedRun}). If the claim was optimistic and another call was quicker, {@linkplain
 *       #startOver start over} with a claim before the handler. Or {@link #executeUnprotected}: run
 *       the handler without a claim during an outage;
 *   <li>or {@link #replay}: send the recorded answer;
 *   <li>or {@link #attach}: wait for the call that owns the key. Then, on the thread that resumes
 *       the call, decide again, or claim again. A waiter only reads the record: the call claims for
 *       itself;
 *   <li>or {@link #refuse}: send an error.
 * </ol>
 *
 * <p>One step runs at a time, on the thread of the transport. {@link #stopWaiting} and {@link
 * #cutOff} are thread-safe.
 */
public final class KeyedCall implements Drain.Call, InFlightWaiter.Waiting {
  final Transport transport;
  final Engine engine;
  final CallEvents events;
  private final Drain drain;
  private final Procedure procedure;
  private final String keyName;
  private KeyedRequest request;
  private ClaimResult met = ClaimResult.InFlight.unseen();
  private Duration claimTook = Duration.ZERO;
  private Optional<Wait> wait = Optional.empty();
  private boolean gone;
  private volatile boolean cutOff;
  private volatile Optional<Turn> turn = Optional.empty();
  private volatile Optional<UUID> operationId = Optional.empty();

  /** The time during which a call waits, by {@link System#nanoTime}. */
  private record Wait(long begun, long end) {
    Duration left() {
      return Duration.ofNanos(end - System.nanoTime());
    }

    Duration passed() {
      return Duration.ofNanos(System.nanoTime() - begun);
    }
  }

  /** A place in the queue of a key, and the executor on which the call continues. */
  private record Turn(InFlightWaiter.Waiter waiter, Executor rest) {}

  public KeyedCall(
      Transport transport,
      Engine engine,
      Drain drain,
      CallEvents events,
      KeyedRequest request,
      String keyName) {
    this.transport = transport;
    this.engine = engine;
    this.drain = drain;
    this.events = events;
    this.request = request;
    this.procedure = request.procedure();
    this.keyName = keyName;
  }

  KeyedRequest request() {
    return request;
  }

  public void start() {
    events.keyFound();
    drain.add(this);
    if (!cutOff) {
      claim();
    }
  }

  private void claim() {
    long begun = System.nanoTime();
    ClaimResult result;
    try {
      result = engine.claim(request, transport::isGone);
    } catch (CancellationException dropped) {
      waitEnded(WaitEvent.End.CANCELLED);
      transport.cancelled();
      return;
    } catch (StoreException outage) {
      decide(outage, since(begun));
      return;
    }
    decide(result, since(begun));
  }

  private static Duration since(long begun) {
    return Duration.ofNanos(System.nanoTime() - begun);
  }

  /** Claims the key before the handler, after the end of a preempted run was dropped. */
  void startOver() {
    transport
        .resumption()
        .execute(
            () -> {
              transport.stopHandler();
              if (gone || transport.isGone()) {
                transport.cancelled();
              } else {
                request = request.again();
                claim();
              }
            });
  }

  private void decide(ClaimResult result, Duration took) {
    met = result;
    claimTook = took;
    if (result instanceof ClaimResult.Won won) {
      KeyedRun.of(this, won.claim(), took).start();
      return;
    }
    Decision decision = ClaimDecider.decide(met, procedure, request::compare, timeLeft());
    if (decision instanceof Decision.Attach duplicate) {
      attach(duplicate.running(), duplicate.limit());
      return;
    }
    waitEnded(CallEvents.endOfWait(met));
    if (decision instanceof Decision.Replay answered) {
      replay(answered.recorded());
    } else {
      refuse(((Decision.Refuse) decision).refusal());
    }
  }

  private void decide(StoreException outage, Duration took) {
    claimTook = took;
    waitEnded(WaitEvent.End.GAVE_UP);
    // A call that has waited has found an owner of its key, which may still run.
    OutagePolicy policy = wait.isPresent() ? OutagePolicy.FAIL_CLOSED : transport.outagePolicy();
    FailureDecider.decide(outage, policy)
        .ifPresentOrElse(
            refusal -> refuse(refusal, Optional.empty(), outage), () -> executeUnprotected(outage));
  }

  /** Called by the run that owns the claim, before its handler. */
  void won(Claim claim) {
    operationId = Optional.of(claim.operationId());
    waitEnded(WaitEvent.End.CLAIMED);
  }

  /** Returns how long the call may wait; empty if there is no limit. */
  private Optional<Duration> timeLeft() {
    Optional<Duration> untilDeadline = transport.timeLeft();
    Optional<Duration> ofWait = wait.map(Wait::left);
    return untilDeadline
        .filter(left -> ofWait.isEmpty() || left.compareTo(ofWait.get()) < 0)
        .or(() -> ofWait);
  }

  /**
   * Runs the handler without a claim. A retry of an unprotected call is not safe, so the call is
   * not refused when its server stops.
   */
  private void executeUnprotected(StoreException outage) {
    drain.remove(this);
    if (transport.keep()) {
      events.unprotected(UnprotectedCause.FAILED_OPEN, outage);
      transport.runUnprotected(OperationContext.of(request));
    }
  }

  private void replay(ClaimResult.Recorded recorded) {
    UUID id = recorded.operationId();
    Consumer<Instant> answer;
    try {
      answer = read(recorded, id);
    } catch (RefusedException refused) {
      refuse(refused.refusal(), Optional.of(id), refused.getCause());
      return;
    } catch (Throwable unreadable) {
      refuse(Refusal.of(RefusalReason.RECORD_UNREADABLE), Optional.of(id), unreadable);
      return;
    }
    events.replayed(recorded, claimTook);
    answer.accept(engine.retain(procedure, request.claimRequest(), recorded, events));
  }

  private Consumer<Instant> read(ClaimResult.Recorded recorded, UUID id) throws Exception {
    Replay replay =
        Replay.of(procedure, request.key(), recorded, failure -> events.statusUnknown(id, failure));
    return replay instanceof Replay.Response response
        ? transport.read(response, id)
        : transport.readError(replay.bytes(), id);
  }

  private void attach(ClaimResult.InFlight running, Duration limit) {
    if (wait.isEmpty()) {
      long now = System.nanoTime();
      wait = Optional.of(new Wait(now, now + limit.toNanos()));
      events.attached();
    }
    operationId = running.operationId();
    request = request.again();
    InFlightWaiter.Waiter waiter = engine.waiter().toRun(request, this);
    turn = Optional.of(new Turn(waiter, transport.resumption()));
    waiter.begin(running, limit);
    drain.stopIfDraining(this);
  }

  @Override
  public void found(ClaimResult result, Duration took) {
    resume(() -> decide(result, took));
  }

  @Override
  public void free() {
    resume(this::claimInTurn);
  }

  @Override
  public void over(ClaimResult.InFlight running) {
    resume(() -> giveUpWaiting(running));
  }

  /** Continues the call after a wait. */
  private void resume(Runnable step) {
    turn.orElseThrow().rest().execute(step);
  }

  /**
   * Claims the key, which seems to be free. The turn of the next duplicate begins after this call.
   */
  private void claimInTurn() {
    InFlightWaiter.Waiter own = turn.orElseThrow().waiter();
    try {
      if (gone || transport.isGone()) {
        waitEnded(WaitEvent.End.CANCELLED);
      } else {
        claim();
      }
    } finally {
      own.endTurn();
    }
  }

  private void giveUpWaiting(ClaimResult.InFlight running) {
    long now = System.nanoTime();
    wait = wait.map(waited -> new Wait(waited.begun(), now));
    decide(running, Duration.ZERO);
  }

  private void waitEnded(WaitEvent.End end) {
    wait.ifPresent(waited -> events.waitEnded(waited.passed(), end));
  }

  /**
   * Ends the wait, because nobody waits for the answer. Called between two steps.
   *
   * @return whether the call was waiting; if not, its next step is under way
   */
  public boolean cancel() {
    gone = true;
    return stopWaiting(WaitEvent.End.CANCELLED);
  }

  private boolean stopWaiting(WaitEvent.End end) {
    boolean waited = turn.filter(own -> own.waiter().cancel()).isPresent();
    if (waited) {
      waitEnded(end);
    }
    return waited;
  }

  private void refuse(Refusal refusal) {
    events.refused(refusal, met);
    transport.refuse(refusal, keyName);
  }

  void refuse(Refusal refusal, Optional<UUID> operation, @Nullable Throwable why) {
    events.refused(refusal, operation, why);
    transport.refuse(refusal, keyName);
  }

  /** Refuses the call when its server stops, because a retry of a call with a key is safe. */
  @Override
  public void stopWaiting() {
    turn.ifPresent(
        own ->
            own.rest()
                .execute(
                    () -> {
                      if (stopWaiting(WaitEvent.End.GAVE_UP)) {
                        refuseBecauseTheServerStops();
                      }
                    }));
  }

  @Override
  public void cutOff() {
    cutOff = true;
    refuseBecauseTheServerStops();
    stopWaiting();
  }

  private void refuseBecauseTheServerStops() {
    Refusal refusal = Refusal.shuttingDown(operationId);
    transport.cutOff(refusal, keyName, () -> events.refused(refusal, operationId, null));
  }

  /** Called when the call was answered or cancelled. Any thread may call it. */
  public void ended() {
    drain.remove(this);
  }
}
