package io.github.grpcidempotency.call.internal;

import com.google.rpc.Code;
import io.github.grpcidempotency.background.RateLimitedLog;
import io.github.grpcidempotency.internal.context.OperationContext;
import io.github.grpcidempotency.internal.engine.Engine;
import io.github.grpcidempotency.internal.settling.RunningCalls;
import io.github.grpcidempotency.procedure.Procedure;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One run of a handler, from its start to its settlement. The first end of the handler counts, and
 * later ends are dropped:
 *
 * <table>
 *   <caption>When and where an end is settled</caption>
 *   <tr><th>end</th><th>any thread may settle</th><th>transaction bound to a thread</th></tr>
 *   <tr><td>answer</td><td>at once, on the thread that answers</td>
 *       <td>on the handler's thread after the handler has returned; this thread waits for the
 *       answer</td></tr>
 *   <tr><td>exception</td><td>at once, unless the handler has answered</td>
 *       <td>on the handler's thread, even if the handler has answered</td></tr>
 *   <tr><td>given up</td><td>at once</td><td>like an answer</td></tr>
 * </table>
 *
 * <p>If the settlement finds that another call was quicker, the end is dropped, and the call starts
 * over.
 *
 * <p>A run owns a claim or a transaction. {@link #settleWith} is the only way to settle, and ends
 * what the run owns, whatever is thrown. {@link KeyedRun} and {@link UnkeyedRun} settle.
 * Thread-safe.
 */
public abstract class Run implements RunningCalls.Call, AutoCloseable {
  private static final Logger logger = LoggerFactory.getLogger(Run.class);

  private enum Phase {
    /** The handler has not returned, and its end is kept until then. */
    HOLDING,
    /** The handler has returned, and its answer is awaited. */
    RETURNED,
    /** The end is settled as soon as there is one. */
    OPEN,
    /** The end is settled. */
    SETTLED,
    /** The call has started over. */
    DROPPED
  }

  /** Settles a claim or a transaction. */
  interface Settlement {
    /** Settles, and returns what sends the answer of the call. */
    Runnable settle() throws Exception;
  }

  final Transport transport;
  final Engine engine;
  final Procedure procedure;
  final OperationContext context;
  final RateLimitedLog log;
  private final boolean bound;
  private final AtomicReference<Phase> phase;
  private volatile boolean returned;

  /** Empty if the handler was given up. */
  private final CompletableFuture<Optional<Answer>> end = new CompletableFuture<>();

  Run(Transport transport, Engine engine, Procedure procedure, OperationContext context) {
    this.transport = transport;
    this.engine = engine;
    this.procedure = procedure;
    this.context = context;
    this.log = engine.log();
    this.bound = engine.bindsThreads(procedure);
    this.phase = new AtomicReference<>(bound ? Phase.HOLDING : Phase.OPEN);
  }

  /**
   * Makes the run that owns something from now on.
   *
   * @param end ends what the run should own, if the run cannot be made
   */
  static <R extends Run> R owning(Supplier<R> making, Runnable end) {
    boolean owned = false;
    try {
      R run = making.get();
      owned = true;
      return run;
    } finally {
      if (!owned) {
        end.run();
      }
    }
  }

  /** Runs before the handler. */
  void begin() {}

  /** Settles an answer, or an exception of the handler, which sending throws. */
  abstract Runnable settle(Answer answer);

  /** Settles a handler that was given up. */
  abstract Runnable settleUnanswered();

  /** Settles the answer of a handler that was given up before. The answer is not sent. */
  void settleLate(Answer answer) {}

  /** Returns what answers a call whose settlement failed unexpectedly. */
  abstract Runnable answerOfDefect();

  /** Ends what the run owns, unless it is settled or left to the late settler. Never throws. */
  @Override
  public abstract void close();

  public final OperationContext context() {
    return context;
  }

  /** Returns whether later messages of the handler are dropped: it was given up or stopped. */
  public final boolean isDropped() {
    return phase.get() == Phase.DROPPED || wasGivenUp();
  }

  private boolean wasGivenUp() {
    return end.isDone() && end.join().isEmpty();
  }

  final void start() {
    try {
      begin();
      if (!transport.callerRunsHandler()) {
        engine.running().begin(this);
      }
    } catch (Throwable defect) {
      settleWith(() -> rethrow(defect));
      return;
    }
    try {
      transport.runHandler(this);
    } catch (Throwable thrown) {
      returned = true;
      threw(thrown);
      return;
    }
    returned = true;
    returned();
  }

  /** Called when the handler has answered. Any thread may call it. */
  public final void answered(Answer answer) {
    if (end.complete(Optional.of(answer))) {
      settleIfOpen();
    } else if (wasGivenUp()) {
      context.settle(() -> settleLate(answer));
    }
  }

  @Override
  public final void giveUp(Runnable report) {
    if (!end.complete(Optional.empty())) {
      return;
    }
    try {
      report.run();
    } finally {
      settleIfOpen();
    }
  }

  /**
   * Logs an exception that a stub has turned into an answer: the client gets {@code UNKNOWN}
   * without a description, and gRPC logs nothing.
   */
  public final void logException(Throwable thrown) {
    log.warn(
        procedure.name() + " unknown",
        thrown,
        "%s: the handler of %s ended with an exception".formatted(procedure.name(), subject()));
  }

  private void returned() {
    if (!phase.compareAndSet(Phase.HOLDING, Phase.RETURNED)) {
      return;
    }
    boolean interrupted = awaitEnd();
    try {
      phase.set(Phase.OPEN);
      settleIfOpen();
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Waits for the end. An interrupt gives up the handler. Returns whether there was one. */
  private boolean awaitEnd() {
    try {
      end.get();
      return false;
    } catch (InterruptedException interrupted) {
      end.complete(Optional.empty());
      return true;
    } catch (ExecutionException impossible) {
      throw new AssertionError(impossible);
    }
  }

  private void threw(Throwable thrown) {
    Answer answer = transport.answerOf(thrown);
    boolean first = end.complete(Optional.of(answer));
    if (phase.compareAndSet(Phase.HOLDING, Phase.RETURNED)
        || (first && phase.get() == Phase.OPEN)) {
      settleWith(() -> settle(answer));
    } else if (phase.get() == Phase.DROPPED) {
      logger.debug("{}: the handler threw after its call had started over", subject(), thrown);
    } else {
      if (!first && wasGivenUp()) {
        context.settle(() -> settleLate(answer));
      }
      answer.sendUnrecorded();
    }
  }

  /** Reports that the transaction was rolled back, so that the call has no effect. */
  static Runnable rolledBack(Transport transport) {
    return () -> transport.fail(Code.INTERNAL, "the transaction was rolled back");
  }

  /** Describes what happens to the transaction of a handler that is given up. */
  final String rollback() {
    return bound
        ? "Its transaction is rolled back once the handler has returned."
        : "Its transaction is rolled back.";
  }

  /** Drops later messages of the handler, whose end does not count. */
  final void drop() {
    phase.set(Phase.DROPPED);
  }

  private void settleIfOpen() {
    if (end.isDone() && phase.compareAndSet(Phase.OPEN, Phase.SETTLED)) {
      Optional<Answer> how = end.join();
      settleWith(() -> how.isPresent() ? settle(how.get()) : settleUnanswered());
    }
  }

  /**
   * Settles, and then sends the answer. If the settlement throws, what the run owns is ended, and
   * the call is answered all the same: on a thread of the handler, nobody else would answer it.
   */
  final void settleWith(Settlement settlement) {
    phase.set(Phase.SETTLED);
    context.settle(
        () -> {
          Runnable sending;
          try {
            sending = settlement.settle();
          } catch (Throwable defect) {
            close();
            sending = answerOfDefect();
            log.error(
                procedure.name() + " defect",
                defect,
                "%s: %s could not be settled".formatted(procedure.name(), subject()));
          } finally {
            engine.running().end(this);
          }
          sending.run();
        });
  }

  @SuppressWarnings("unchecked") // the settlement throws it, declared or not
  private static <X extends Throwable> Runnable rethrow(Throwable defect) throws X {
    throw (X) defect;
  }

  @Override
  public final String method() {
    return procedure.name();
  }

  @Override
  public final boolean hasReturned() {
    return returned;
  }

  @Override
  public final boolean hasDeadline() {
    return transport.timeLeft().isPresent();
  }

  @Override
  public final boolean isOver() {
    return transport.isGone();
  }

  @Override
  public final Optional<Duration> unansweredLimit() {
    return procedure.unansweredLimit();
  }
}
