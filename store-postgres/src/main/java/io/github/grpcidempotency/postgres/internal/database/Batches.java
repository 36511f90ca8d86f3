package io.github.grpcidempotency.postgres.internal.database;

import static java.util.Objects.requireNonNull;

import io.github.grpcidempotency.background.RateLimitedLog;
import io.github.grpcidempotency.postgres.internal.sql.Failures;
import io.github.grpcidempotency.spi.BatchCounts;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jdbi.v3.core.ConnectionException;
import org.jdbi.v3.core.JdbiException;
import org.jdbi.v3.core.statement.UnableToExecuteStatementException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets calls that run at the same time share a round trip and a commit:
 *
 * <ol>
 *   <li>If no other statement of its kind is under way, or few calls of any kind are, a call runs
 *       its own statement at once.
 *   <li>Otherwise the call waits. When a statement has ended, and this condition holds again, the
 *       call that has waited longest sends a batch: one statement for itself and for the calls
 *       behind it, up to {@link #MAX_CALLS} and {@link #MAX_BYTES}.
 *   <li>A call that nobody waits for any more is dropped before it is sent.
 *   <li>If the batch fails, nothing of it is committed, and each call runs its own statement. But
 *       if the connection broke, or could not be made, each call fails as if its own connection
 *       had.
 *   <li>If a statement takes longer than {@link #PATIENCE}, for example because it waits for a
 *       locked row, the waiting calls no longer wait for it.
 * </ol>
 *
 * <p>There is no timer and no thread: the call that has waited longest runs the batch on its own
 * thread. Thread-safe.
 */
public final class Batches {
  private static final Logger logger = LoggerFactory.getLogger(Batches.class);

  static final int MAX_CALLS = 64;

  /** The size of all answers in a batch. A larger answer is sent alone. */
  static final int MAX_BYTES = 256 << 10;

  static final Duration PATIENCE = Duration.ofMillis(100);

  /** The kinds of statements. Calls wait for statements of their own kind only. */
  public enum Kind {
    CLAIM,
    SETTLE,
    FIND
  }

  /**
   * A statement that does for several calls, in one round trip and one commit, the same as another
   * statement does for one call. Calls with equal statements can share a batch.
   *
   * @param <C> the values of one call
   * @param <T> the result for one call
   */
  public interface Statement<C, T> {
    Kind kind();

    /** Returns how many calls a batch takes if this number is waiting, which is at least one. */
    default int size(int waiting) {
      return waiting;
    }

    /**
     * Runs the statement, as one transaction.
     *
     * @param connection in autocommit mode
     * @return a result for each call, in order; empty if the statement did not decide the call, so
     *     that the call has to run its own statement
     */
    List<Optional<T>> run(Connection connection, List<C> calls);
  }

  /** Runs work on one connection in autocommit mode. */
  public interface Connections {
    <T> T onConnection(Function<Connection, T> work);
  }

  private final RateLimitedLog log = RateLimitedLog.of(logger);
  private final int smallest;
  private final int few;
  private final long patience;
  private final Connections connections;
  private final Map<Kind, Lane> lanes = new EnumMap<>(Kind.class);
  private long batches;
  private long calls;
  private long queuedNanos;

  /** The statements of one kind: those under way, and the calls that wait for their end. */
  private static final class Lane {
    final ArrayDeque<Entry<?, ?>> queue = new ArrayDeque<>();

    /** The calls that lead, in the order in which they began. */
    final ArrayDeque<Entry<?, ?>> leaders = new ArrayDeque<>();

    void begin(Entry<?, ?> entry) {
      leaders.add(entry);
      entry.since = System.nanoTime();
      entry.state = State.LEADS;
    }
  }

  private enum State {
    WAITING,
    /** The call sends the next batch. */
    LEADS,
    ENDED
  }

  /** One call. Guarded by the lock, except for what is written before the state is ended. */
  private static final class Entry<C, T> {
    final Statement<C, T> statement;
    final C call;
    final int bytes;
    final BooleanSupplier gone;
    final Thread thread = Thread.currentThread();
    final long queued = System.nanoTime();
    volatile State state = State.WAITING;
    boolean taken;

    /** Since when the call leads. */
    long since;

    /** How many calls share a leader's statement. It may take many until it has taken them. */
    int calls = MAX_CALLS;

    Optional<T> result = Optional.empty();
    @Nullable RuntimeException failure;

    Entry(Statement<C, T> statement, C call, int bytes, BooleanSupplier gone) {
      this.statement = statement;
      this.call = call;
      this.bytes = bytes;
      this.gone = gone;
    }

    void end() {
      state = State.ENDED;
      LockSupport.unpark(thread);
    }
  }

  /**
   * Creates the batches of a store.
   *
   * @param smallest the smallest number of calls that are sent as a batch; 1 is for tests
   * @param few so many calls are sent without waiting for each other
   */
  public Batches(int smallest, int few, Connections connections) {
    this(smallest, few, PATIENCE, connections);
  }

  Batches(int smallest, int few, Duration patience, Connections connections) {
    this.smallest = smallest;
    this.few = few;
    this.patience = patience.toNanos();
    this.connections = connections;
    for (Kind kind : Kind.values()) {
      lanes.put(kind, new Lane());
    }
  }

  /**
   * Runs a statement for a call, alone or in a batch. Waits even if the thread is interrupted.
   *
   * @param bytes the size of the call's answer
   * @param gone whether nobody waits for the call any more; called by any thread
   * @param alone runs the call's own statement
   * @throws CancellationException if the call was dropped, because it was gone
   * @throws JdbiException if the connection broke or could not be made; or as thrown by {@code
   *     alone}
   */
  public <C, T> T run(
      Statement<C, T> statement, C call, int bytes, BooleanSupplier gone, Supplier<T> alone) {
    if (bytes > MAX_BYTES) {
      return alone.get();
    }
    Entry<C, T> own = new Entry<>(statement, call, bytes, gone);
    if (!leadsAtOnce(own)) {
      await(own);
    }
    if (own.state == State.LEADS && lead(own)) {
      try {
        return alone.get();
      } finally {
        pass(own);
      }
    }
    if (own.result.isEmpty() && own.failure != null) {
      throw own.failure;
    }
    return own.result.orElseGet(alone);
  }

  public synchronized BatchCounts counts() {
    return new BatchCounts(batches, calls, Duration.ofNanos(queuedNanos));
  }

  private Lane laneOf(Entry<?, ?> entry) {
    return requireNonNull(lanes.get(entry.statement.kind()));
  }

  private synchronized boolean leadsAtOnce(Entry<?, ?> entry) {
    Lane lane = laneOf(entry);
    if (lane.queue.isEmpty() && mayBegin(lane)) {
      lane.begin(entry);
      return true;
    }
    lane.queue.add(entry);
    return false;
  }

  private boolean mayBegin(Lane lane) {
    return lane.leaders.isEmpty() || underWay() < few;
  }

  private int underWay() {
    int underWay = 0;
    for (Lane lane : lanes.values()) {
      for (Entry<?, ?> leader : lane.leaders) {
        underWay += leader.calls;
      }
    }
    return underWay;
  }

  /** Lets the call of each kind lead that has waited longest, if its statement may begin. */
  private void proceed() {
    for (Lane lane : lanes.values()) {
      if (!lane.queue.isEmpty() && mayBegin(lane)) {
        Entry<?, ?> next = lane.queue.remove();
        lane.begin(next);
        LockSupport.unpark(next.thread);
      }
    }
  }

  private void await(Entry<?, ?> entry) {
    boolean interrupted = false;
    long left = patience;
    while (entry.state == State.WAITING && left > 0) {
      LockSupport.parkNanos(this, left);
      interrupted |= Thread.interrupted();
      if (entry.state == State.WAITING && System.nanoTime() - entry.queued >= patience) {
        left = overtake(entry);
      }
    }
    if (interrupted) {
      entry.thread.interrupt();
    }
  }

  /**
   * Lets a waiting call lead if statements for whose end it waits take too long. Returns how long
   * the call waits otherwise, in nanoseconds.
   */
  private synchronized long overtake(Entry<?, ?> entry) {
    if (entry.state != State.WAITING) {
      return 0;
    }
    if (entry.taken) {
      return patience; // it is being sent
    }
    Lane lane = laneOf(entry);
    long stuck = System.nanoTime() - patience;
    lane.leaders.removeIf(leader -> leader.since - stuck <= 0);
    if (!mayBegin(lane)) {
      return lane.leaders.element().since - stuck;
    }
    lane.queue.remove(entry);
    lane.begin(entry);
    return 0;
  }

  /** Ends the turn of a leader, unless it took too long and other calls no longer wait for it. */
  private synchronized void pass(Entry<?, ?> leader) {
    if (laneOf(leader).leaders.remove(leader)) {
      proceed();
    }
  }

  /**
   * Sends a batch. Returns true if there is no other call for it: the leader then runs its own
   * statement, and {@linkplain #pass passes}.
   */
  private <C, T> boolean lead(Entry<C, T> leader) {
    List<Entry<C, T>> batch = new ArrayList<>();
    boolean alone = false;
    boolean interrupted = false;
    try {
      take(leader, batch);
      alone = batch.size() < smallest && batch.contains(leader);
      if (!alone && !batch.isEmpty()) {
        interrupted = Thread.interrupted(); // this interrupt does not concern the other calls
        send(leader.statement, batch);
      }
      return alone;
    } finally {
      if (!alone) {
        batch.forEach(Entry::end);
        pass(leader);
      }
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * Takes waiting calls with the leader's statement out of the queue, and drops those gone. A call
   * is in the batch before it counts as taken, so that the leader ends it in any case.
   */
  private synchronized <C, T> void take(Entry<C, T> leader, List<Entry<C, T>> batch) {
    Lane lane = laneOf(leader);
    List<Entry<C, T>> wanted = new ArrayList<>();
    int bytes = 0;
    if (!isDropped(leader)) {
      wanted.add(leader);
      bytes += leader.bytes;
    }
    for (Iterator<Entry<?, ?>> waiting = lane.queue.iterator();
        waiting.hasNext() && wanted.size() < MAX_CALLS; ) {
      Entry<?, ?> entry = waiting.next();
      if (isDropped(entry)) {
        waiting.remove();
        entry.end();
      } else if (entry.statement.equals(leader.statement) && bytes + entry.bytes <= MAX_BYTES) {
        @SuppressWarnings("unchecked") // equal statements take the same values
        Entry<C, T> same = (Entry<C, T>) entry;
        wanted.add(same);
        bytes += same.bytes;
      }
    }
    if (!wanted.isEmpty()) {
      batch.addAll(wanted.subList(0, leader.statement.size(wanted.size())));
    }
    batch.forEach(entry -> entry.taken = true);
    lane.queue.removeIf(entry -> entry.taken);
    leader.calls = Math.max(1, batch.size());
    proceed();
    long now = System.nanoTime();
    if (batch.size() >= smallest) {
      batches++;
      calls += batch.size();
      batch.forEach(entry -> queuedNanos += now - entry.queued);
    }
  }

  private static boolean isDropped(Entry<?, ?> entry) {
    if (!entry.gone.getAsBoolean()) {
      return false;
    }
    entry.failure = new CancellationException("nobody waits for the answer any more");
    return true;
  }

  private <C, T> void send(Statement<C, T> statement, List<Entry<C, T>> batch) {
    List<C> values = batch.stream().map(entry -> entry.call).toList();
    try {
      boolean unused =
          connections.onConnection(
              connection -> {
                List<Optional<T>> results = statement.run(connection, values);
                for (int i = 0; i < results.size(); i++) {
                  batch.get(i).result = results.get(i);
                }
                return true;
              });
    } catch (ConnectionException unreached) {
      batch.forEach(entry -> entry.failure = new ConnectionException(causeOf(unreached)));
    } catch (RuntimeException failure) {
      if (failure instanceof JdbiException known && Failures.isCutOff(known)) {
        batch.forEach(entry -> entry.failure = cutOff(causeOf(known)));
      } else {
        sentAlone(failure);
      }
    } catch (Error defect) {
      SQLException cause = new SQLException("the thread with the batch failed", "08006", defect);
      batch.forEach(entry -> entry.failure = cutOff(cause));
      throw defect;
    }
  }

  private void sentAlone(RuntimeException failure) {
    String message = "a statement for several calls failed, so each call sends its own";
    if (failure instanceof JdbiException known
        && (Failures.causeOf(known).isTemporary() || Failures.isForeignKeyViolation(known))) {
      logger.debug(message, failure);
    } else {
      log.warn("batch", failure, message + "; such statements may fail again and cost time");
    }
  }

  /** Returns a new exception, because each call changes its own: it adds what it has tried. */
  private static JdbiException cutOff(Throwable cause) {
    return new UnableToExecuteStatementException("the batch was cut off", cause, null);
  }

  private static Throwable causeOf(JdbiException failure) {
    return failure.getCause() == null ? failure : failure.getCause();
  }
}
