package io.github.grpcidempotency.internal.waiting;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The waiters of each key in the order of their arrival, the queues whose records are being read,
 * and the waiter of each queue that has its turn. Only the thread that removes a waiter from its
 * queue resumes it.
 *
 * <p>Callbacks run under its lock and must not block.
 */
final class WaitQueues<K, W> {
  private final Consumer<K> abandoned;

  @GuardedBy("this")
  private final Map<K, Queue<W>> queues = new HashMap<>();

  @GuardedBy("this")
  private boolean closed;

  private volatile int count;

  private static final class Queue<W> {
    final Set<W> waiters = new LinkedHashSet<>();
    Optional<W> turn = Optional.empty();
    boolean woken;
    boolean probing;
  }

  WaitQueues(Consumer<K> abandoned) {
    this.abandoned = abandoned;
  }

  /**
   * Adds a waiter to the end of its queue, unless the queues are closed.
   *
   * @param added runs before the waiter can be removed; if it throws, the waiter is not added
   * @return whether the waiter was added
   */
  synchronized boolean add(K key, W waiter, Runnable added) {
    if (closed) {
      return false;
    }
    queues.computeIfAbsent(key, absent -> new Queue<>()).waiters.add(waiter);
    count++;
    try {
      added.run();
    } catch (Throwable thrown) {
      remove(key, waiter);
      throw thrown;
    }
    return true;
  }

  /** Removes a waiter. Returns whether it was still waiting. */
  synchronized boolean remove(K key, W waiter) {
    Queue<W> queue = queues.get(key);
    if (queue == null || !queue.waiters.remove(waiter)) {
      return false;
    }
    count--;
    if (queue.waiters.isEmpty()) {
      abandon(key);
    }
    return true;
  }

  synchronized List<W> removeAll(K key) {
    Queue<W> queue = queues.get(key);
    if (queue == null) {
      return List.of();
    }
    abandon(key);
    count -= queue.waiters.size();
    return List.copyOf(queue.waiters);
  }

  /** Removes those of the given waiters that are still waiting, and returns them. */
  synchronized List<W> removeAll(K key, Collection<W> some) {
    List<W> removed = new ArrayList<>();
    for (W waiter : some) {
      if (remove(key, waiter)) {
        removed.add(waiter);
      }
    }
    return removed;
  }

  /**
   * Gives the turn to the first of these waiters that is still waiting, and removes it from the
   * queue, unless another waiter has the turn.
   */
  synchronized Optional<W> giveTurn(K key, Collection<W> some) {
    Queue<W> queue = queues.get(key);
    if (queue == null || queue.turn.isPresent()) {
      return Optional.empty();
    }
    Optional<W> next = some.stream().filter(queue.waiters::contains).findFirst();
    queue.turn = next;
    next.ifPresent(waiter -> remove(key, waiter));
    return next;
  }

  /** Ends the turn of a waiter. Returns whether it had the turn and others are waiting. */
  synchronized boolean endTurn(K key, W waiter) {
    Queue<W> queue = queues.get(key);
    if (queue == null || queue.turn.filter(waiter::equals).isEmpty()) {
      return false;
    }
    queue.turn = Optional.empty();
    return true;
  }

  /** Ends the turn of the waiter that has it, if any. */
  synchronized void endTurn(K key) {
    Queue<W> queue = queues.get(key);
    if (queue != null) {
      queue.turn = Optional.empty();
    }
  }

  /** Removes and returns all waiters, and accepts no others from now on. */
  synchronized List<W> close() {
    closed = true;
    List<W> all = new ArrayList<>();
    List.copyOf(queues.keySet()).forEach(key -> all.addAll(removeAll(key)));
    return all;
  }

  /** Runs an action if there are waiters for a key. No waiter can be removed during the action. */
  synchronized void ifAwaited(K key, Runnable action) {
    if (queues.containsKey(key)) {
      action.run();
    }
  }

  synchronized boolean isAwaited(K key) {
    return queues.containsKey(key);
  }

  /** Returns the number of waiters. Does not block. */
  int count() {
    return count;
  }

  /**
   * Requests that the record of a queue is read.
   *
   * @return whether the caller must read the record, until {@link #nextProbe} returns no waiters;
   *     otherwise another thread is reading it and will read it once more, or there are no waiters
   */
  synchronized boolean wake(K key) {
    Queue<W> queue = queues.get(key);
    if (queue == null) {
      return false;
    }
    queue.woken = true;
    boolean begin = !queue.probing;
    queue.probing = true;
    return begin;
  }

  /** Returns the waiters of the queue, if {@link #wake} was called since the last read. */
  synchronized List<W> nextProbe(K key) {
    Queue<W> queue = queues.get(key);
    if (queue == null) {
      return List.of();
    }
    queue.probing = queue.woken;
    queue.woken = false;
    return queue.probing ? List.copyOf(queue.waiters) : List.of();
  }

  /**
   * Ends the reading that {@link #wake} requested from the caller, because the caller could not
   * start it.
   */
  synchronized void giveUp(K key) {
    Queue<W> queue = queues.get(key);
    if (queue != null) {
      queue.probing = false;
    }
  }

  @GuardedBy("this")
  private void abandon(K key) {
    queues.remove(key);
    abandoned.accept(key);
  }
}
