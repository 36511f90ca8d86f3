package io.github.grpcidempotency.internal.waiting;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.Validate;

/**
 * The queues alone, small enough for every interleaving of their steps to be tried: one key, whose
 * call ends once and leaves nothing, and up to two waiters. One of them has its turn, and is
 * answered when it ends its turn; then everybody is answered. In the end, each waiter that came and
 * did not leave is answered, and none twice.
 */
public final class WaitQueuesModel {
  private static final int KEY = 0;

  private final WaitQueues<Integer, Integer> queues = new WaitQueues<>(key -> unwatch());
  private final Queue<Integer> turns = new ConcurrentLinkedQueue<>();
  private final int[] answers = new int[2];
  private final boolean[] came = new boolean[2];
  private volatile boolean ended;
  private volatile boolean answered;
  private volatile boolean watched;

  /** Begins with one that waits. */
  public WaitQueuesModel() {
    come(0);
  }

  /**
   * A waiter comes. A call that runs in this process reports its own end; the store watches any
   * other.
   */
  @Operation
  public void come(@Param(gen = IntGen.class, conf = "1:1") int waiter) {
    if (begins(waiter) && !queues.add(KEY, waiter, () -> watched = ended)) {
      answer(waiter);
    }
  }

  /** A waiter leaves. If it was still waiting, it is answered here. */
  @Operation
  public void leave(@Param(gen = IntGen.class, conf = "0:1") int waiter) {
    if (queues.remove(KEY, waiter)) {
      answer(waiter);
    }
  }

  /** The call ends, and its queue is probed. */
  @Operation
  public void end() {
    ended = true;
    wake();
  }

  /** Somebody believes that it has ended. */
  @Operation
  public void wake() {
    if (queues.wake(KEY)) {
      for (List<Integer> all = queues.nextProbe(KEY); !all.isEmpty(); all = queues.nextProbe(KEY)) {
        if (answered) {
          queues.removeAll(KEY, all).forEach(this::answer);
        } else if (ended) {
          queues.giveTurn(KEY, all).ifPresent(turns::add);
        } else {
          queues.ifAwaited(KEY, () -> watched = ended);
        }
      }
    }
  }

  /** Whoever has its turn has answered, and the next one has its turn. */
  @Operation
  public void take() {
    for (Integer head = turns.poll(); head != null; head = turns.poll()) {
      answered = true;
      answer(head);
      if (queues.endTurn(KEY, head)) {
        wake();
      }
    }
  }

  /** Nobody waits any more. */
  @Operation(runOnce = true)
  public void close() {
    queues.close().forEach(this::answer);
  }

  /** Checks the end, a poll later. */
  @Validate
  public void everyWaiterIsAnsweredOnce() {
    if (!ended) {
      end();
    }
    for (int each = 0; each <= answers.length; each++) {
      if (watched) {
        wake();
      }
      take();
    }
    for (int waiter = 0; waiter < answers.length; waiter++) {
      if (answers[waiter] != (came[waiter] ? 1 : 0)) {
        throw new IllegalStateException(
            "waiter " + waiter + " is answered " + answers[waiter] + " times");
      }
    }
    if (watched) {
      throw new IllegalStateException("a key is watched that nobody waits for");
    }
  }

  private void unwatch() {
    watched = false;
  }

  private synchronized boolean begins(int waiter) {
    boolean first = !came[waiter];
    came[waiter] = true;
    return first;
  }

  private synchronized void answer(int waiter) {
    answers[waiter]++;
  }
}
