package io.github.grpcidempotency.fault;

import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;

/**
 * Holds handlers of any process back until it is opened, by an advisory lock. Close it with the
 * test.
 */
public final class Gate implements AutoCloseable {
  /** On a busy machine, the JVM of a handler may have to start first. */
  private static final Duration MAX_WAIT = Duration.ofSeconds(90);

  private static final AtomicInteger gates = new AtomicInteger();

  private final int number = gates.incrementAndGet();
  private final Handle keeper;

  private Gate(Handle keeper) {
    this.keeper = keeper;
    keeper.execute("SELECT pg_advisory_lock(?)", number);
  }

  /** Creates a closed gate. */
  public static Gate shut(Jdbi database) {
    return new Gate(database.open());
  }

  /** Returns the value for a request's label {@code gate}. */
  public String name() {
    return Integer.toString(number);
  }

  /** Waits until this number of handlers waits at the gate. */
  public void awaitWaiting(int handlers) {
    await("handlers before the gate")
        .atMost(MAX_WAIT)
        .pollInterval(Duration.ofMillis(20))
        .until(() -> waiting() == handlers);
  }

  /** Releases all handlers. */
  public void open() {
    keeper.execute("SELECT pg_advisory_unlock(?)", number);
  }

  @Override
  public void close() {
    keeper.close();
  }

  /** Waits in a handler until it is opened. */
  public void pass(Handle handle) {
    pass(handle, name());
  }

  /** Waits in a handler until the gate of this name is opened. */
  public static void pass(Handle handle, String name) {
    handle
        .createQuery("SELECT 1 FROM pg_advisory_xact_lock_shared(:gate)")
        .bind("gate", Integer.parseInt(name))
        .mapTo(Integer.class)
        .one();
  }

  private int waiting() {
    return keeper
        .createQuery(
            """
            SELECT count(*)
              FROM pg_locks
             WHERE locktype = 'advisory'
               AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
               AND objid = :gate
               AND NOT granted
            """)
        .bind("gate", number)
        .mapTo(Integer.class)
        .one();
  }
}
