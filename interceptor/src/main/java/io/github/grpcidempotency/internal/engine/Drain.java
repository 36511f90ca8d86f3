package io.github.grpcidempotency.internal.engine;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The calls that the library answers when their server stops, because gRPC would only cancel them.
 */
public final class Drain {
  private static final Logger logger = LoggerFactory.getLogger(Drain.class);

  private final Set<Call> calls = ConcurrentHashMap.newKeySet();
  private volatile Phase phase = Phase.SERVING;

  @GuardedBy("this")
  private int drains;

  private enum Phase {
    SERVING,
    NO_WAITING,
    NO_CALLS
  }

  /**
   * A call with a key that has not been answered. Both methods may be called at any time, more than
   * once.
   */
  public interface Call {
    /** Refuses the call now if it waits for another one. */
    void stopWaiting();

    /** Refuses the call now, whether it waits or runs. Its handler continues. */
    default void cutOff() {
      stopWaiting();
    }
  }

  /** Adds a call. The call is refused at once if the server does not serve calls any more. */
  public void add(Call call) {
    calls.add(call);
    stopIfDraining(call);
  }

  public void remove(Call call) {
    calls.remove(call);
  }

  /** Refuses a call that has just started, or starts to wait, if the server is stopping. */
  public void stopIfDraining(Call call) {
    switch (phase) {
      case SERVING -> {}
      case NO_WAITING -> call.stopWaiting();
      case NO_CALLS -> call.cutOff();
    }
  }

  /** Starts to drain. From now on no call waits. */
  public void begin() {
    enter();
    each(Call::stopWaiting);
  }

  private synchronized void enter() {
    drains++;
    if (phase == Phase.SERVING) {
      phase = Phase.NO_WAITING;
    }
  }

  /** From now on no call is served. */
  public void cutOff() {
    phase = Phase.NO_CALLS;
    each(Call::cutOff);
  }

  /** An exception of one call does not affect the others. */
  private void each(Consumer<Call> refusal) {
    for (Call call : calls) {
      try {
        refusal.accept(call);
      } catch (Throwable refused) {
        logger.error("a call could not be refused while its server stops", refused);
      }
    }
  }

  /**
   * Ends a drain that {@link #begin} started. If no other drain is in progress, servers that start
   * later serve calls again.
   */
  public synchronized void end() {
    drains--;
    if (drains == 0) {
      phase = Phase.SERVING;
    }
  }
}
