package io.github.grpcidempotency.internal.runtime;

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
 * The waiters of each key in order of arrival, the queues that are being probed, and the waiter
 * that has the turn of each queue. The thread that takes a waiter out of its queue resumes it, and
 * no other thread does.
 *
 * <p>Thread-safe. Callbacks run under its lock and must not block.
 */
final class WaitQueues<K, W> {
  private final Consumer<K> abandoned;
  private final Map<K, Queue<W>> queues = new HashMap<>();
  private boolean closed;
  private volatile int count;

  private static final class Queue<W> {
    final Set<W> waiters = new LinkedHashSet<>();
    Optional<W> turn = Optional.empty();
    boolean woken;
    boolean probing;
  }

  /**
   * Makes queues.
   *
   * @param abandoned gets each key that nobody waits for any more
   */
  WaitQueues(Consumer<K> abandoned) {
    this.abandoned = abandoned;
  }

  /**
   * Adds a waiter to the end of its queue, unless the queues are closed.
   *
   * @param added runs before anybody can take the waiter out; if it throws, the waiter is not added
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
      boolean unused = remove(key, waiter);
      throw thrown;
    }
    return true;
  }

  /** Takes a waiter out. Returns whether it was still waiting. */
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

  /** Takes all waiters of a key out. */
  synchronized List<W> removeAll(K key) {
    Queue<W> queue = queues.get(key);
    if (queue == null) {
      return List.of();
    }
    abandon(key);
    count -= queue.waiters.size();
    return List.copyOf(queue.waiters);
  }

  /** Removes the given waiters that still wait from their queue, and returns them. */
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
   * Gives the turn to the first of these waiters that still waits, and takes it out, unless another
   * waiter has the turn.
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

  /** Ends the turn of a waiter. Returns whether it had the turn, and others wait. */
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

  /** Takes all waiters out, and accepts no others from now on. */
  synchronized List<W> close() {
    closed = true;
    List<W> all = new ArrayList<>();
    List.copyOf(queues.keySet()).forEach(key -> all.addAll(removeAll(key)));
    return all;
  }

  /** Runs an action if anybody waits for a key, before the last waiter can be taken out. */
  synchronized void ifAwaited(K key, Runnable action) {
    if (queues.containsKey(key)) {
      action.run();
    }
  }

  /** Returns how many wait. Does not block. */
  int count() {
    return count;
  }

  /** Returns whether nobody waits. */
  synchronized boolean isEmpty() {
    return queues.isEmpty();
  }

  /** Returns every key that somebody waits for. */
  synchronized Set<K> keys() {
    return Set.copyOf(queues.keySet());
  }

  /**
   * Asks for a queue to be probed.
   *
   * @return whether the caller is to probe it, until {@link #nextProbe} returns nobody; otherwise
   *     another thread is probing and will do so once more, or nobody waits
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

  /** Returns the waiters of the queue, if it was woken since the last probe. */
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
   * Ends the probing that {@link #wake} asked the caller for, because the caller could not begin
   * it.
   */
  synchronized void giveUp(K key) {
    Queue<W> queue = queues.get(key);
    if (queue != null) {
      queue.probing = false;
    }
  }

  private void abandon(K key) {
    queues.remove(key);
    abandoned.accept(key);
  }
}
