package io.github.grpcidempotency.postgres.internal.database;

import com.google.common.collect.EnumMultiset;
import com.google.common.collect.Multiset;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.github.grpcidempotency.postgres.internal.driver.Driver;
import io.github.grpcidempotency.spi.ConnectionCounts;
import io.github.grpcidempotency.store.SetupException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;
import org.jdbi.v3.core.CloseException;
import org.jdbi.v3.core.ConnectionException;
import org.jdbi.v3.core.transaction.TransactionException;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * The store's own connections, for which no handler competes. One of them renews leases and does
 * nothing else. The other ones serve all other statements, among them the {@code LISTEN} of the
 * completion watch.
 *
 * <p>As many threads as there are connections use the pool at the same time, so a thread waits here
 * and not in the pool. If the pool cannot make a connection for a thread, the threads that wait
 * here fail with the same failure: during an outage, no thread waits for the time limits of the
 * threads before it.
 *
 * <p>Work that has a connection must not ask for another one: if all connections had such work,
 * each would wait for the others. It gets an {@link IllegalStateException}.
 */
public final class StoreConnections implements AutoCloseable {
  /** The number of connections of the pool. */
  public static final int SIZE = 4;

  static final Duration MAX_WAIT = Duration.ofSeconds(5);

  private static final String NOT_ALONE =
      "the store's pool gave a connection that is not in autocommit mode: either the connection is"
          + " part of a transaction of this thread, or the pool switches autocommit off. Give"
          + " connections(…) a pool in autocommit mode that no transaction manager manages";

  private static final String UNKNOWN_KIND =
      "the store needs connections of its own, and cannot derive them from %s, which is neither a"
          + " HikariCP pool nor a data source of the PostgreSQL driver without a pool: give the"
          + " store's builder connections(…), a pool with at least "
          + SIZE
          + " connections to the same database as the same role, which nothing else uses";

  private static final String ROUTES =
      "%s chooses a database for each thread, but the store's calls share statements: give the"
          + " store's builder the pool of one database, as connections(…) or instead of this data"
          + " source; for several databases, use Shards";

  /** Spring's superclass of data sources that route. */
  private static final String ROUTING =
      "org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource";

  private final DataSource pool;
  private final Runnable end;
  private final long maxWaitNanos;

  /** The connections that are free. */
  @GuardedBy("this")
  private final Multiset<Use> free = EnumMultiset.create(Use.class);

  /** The threads that have a connection. */
  @GuardedBy("this")
  private final Set<Thread> users = new HashSet<>();

  /** The number of threads that wait for a connection. */
  @GuardedBy("this")
  private int waiting;

  /** The reservations that have not ended. */
  @GuardedBy("this")
  private int retained;

  @GuardedBy("this")
  private boolean closed;

  /** The failures to make a connection so far. */
  @GuardedBy("this")
  private long failures;

  @GuardedBy("this")
  private Throwable lastFailure = new SQLException("there was no failure yet");

  private enum Use {
    STATEMENTS,
    RENEWALS
  }

  /**
   * Creates the connections of a store.
   *
   * @param end closes the pool, if the store owns it
   * @param maxWait how long a thread waits until another thread returns its connection
   */
  StoreConnections(DataSource pool, Runnable end, Duration maxWait) {
    this.pool = pool;
    this.end = end;
    this.maxWaitNanos = maxWait.toNanos();
    free.setCount(Use.STATEMENTS, SIZE - 1);
    free.setCount(Use.RENEWALS, 1);
  }

  /**
   * Uses a pool that its owner closes.
   *
   * @throws SetupException if the pool is too small, or chooses a database for each thread
   */
  public static StoreConnections of(DataSource pool) {
    refuseRouting(pool);
    HikariPools.checkSize(pool);
    return new StoreConnections(pool, () -> {}, MAX_WAIT);
  }

  /**
   * Derives connections from the service's data source: a pool like its HikariCP pool, or the data
   * source itself if it makes a new connection for every thread.
   *
   * @throws SetupException if the data source is of another kind
   */
  public static StoreConnections deriveFrom(DataSource service) {
    refuseRouting(service);
    return HikariPools.deriveFrom(service)
        .or(() -> unwrap(service, PGSimpleDataSource.class).map(StoreConnections::of))
        .orElseThrow(
            () ->
                new SetupException(List.of(UNKNOWN_KIND.formatted(service.getClass().getName()))));
  }

  /** Returns whether a data source of Spring chooses a database for each thread. */
  public static boolean isRouting(DataSource dataSource) {
    return classOf(ROUTING, dataSource.getClass().getClassLoader())
        .filter(routing -> wraps(dataSource, routing))
        .isPresent();
  }

  private static void refuseRouting(DataSource dataSource) {
    if (isRouting(dataSource)) {
      throw new SetupException(List.of(ROUTES.formatted(dataSource.getClass().getName())));
    }
  }

  static <T> Optional<T> unwrap(DataSource dataSource, Class<T> type) {
    try {
      return wraps(dataSource, type) ? Optional.of(dataSource.unwrap(type)) : Optional.empty();
    } catch (SQLException opaque) {
      return Optional.empty();
    }
  }

  private static boolean wraps(DataSource dataSource, Class<?> type) {
    try {
      return type.isInstance(dataSource) || dataSource.isWrapperFor(type);
    } catch (SQLException opaque) {
      return false;
    }
  }

  static Optional<Class<?>> classOf(String name, @Nullable ClassLoader loader) {
    try {
      return Optional.of(Class.forName(name, false, loader));
    } catch (ClassNotFoundException missing) {
      return Optional.empty();
    }
  }

  /** Returns these connections, taken through another data source; for tests. */
  public StoreConnections through(UnaryOperator<DataSource> wrapper) {
    return new StoreConnections(wrapper.apply(pool), end, Duration.ofNanos(maxWaitNanos));
  }

  /** Returns the pool, whose settings are those of every connection. */
  public DataSource pool() {
    return pool;
  }

  /**
   * Runs work on a connection in autocommit mode.
   *
   * @throws ConnectionException if there is no connection
   */
  public <T> T use(Function<Connection, T> work) {
    return use(Use.STATEMENTS, work);
  }

  /** Runs work as above, on the connection that is kept for renewals. */
  public <T> T useForRenewal(Function<Connection, T> work) {
    return use(Use.RENEWALS, work);
  }

  private <T> T use(Use use, Function<Connection, T> work) {
    take(use);
    try (Connection connection = connect()) {
      return work.apply(connection);
    } catch (SQLException failure) {
      throw new CloseException("could not return a connection to the store's pool", failure);
    } finally {
      giveBack(use);
    }
  }

  private synchronized void take(Use use) {
    if (users.contains(Thread.currentThread())) {
      throw new IllegalStateException("this thread has a connection of the store already");
    }
    long end = System.nanoTime() + maxWaitNanos;
    long known = failures;
    waiting++;
    try {
      while (!free.contains(use)) {
        long left = end - System.nanoTime();
        if (failures != known) {
          throw new ConnectionException(lastFailure);
        }
        if (left <= 0) {
          throw new ConnectionException(
              new SQLTransientConnectionException(
                  "all connections of the store's pool are in use"));
        }
        TimeUnit.NANOSECONDS.timedWait(this, left);
      }
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new ConnectionException(
          new SQLTransientConnectionException(
              "interrupted while waiting for a connection of the store's pool", stopped));
    } finally {
      waiting--;
    }
    free.remove(use);
    users.add(Thread.currentThread());
  }

  private synchronized void giveBack(Use use) {
    free.add(use);
    users.remove(Thread.currentThread());
    notifyAll();
  }

  public synchronized ConnectionCounts counts() {
    return new ConnectionCounts(users.size(), waiting);
  }

  private Connection connect() {
    try {
      return connect(pool, NOT_ALONE);
    } catch (ConnectionException failure) {
      if (!Thread.currentThread().isInterrupted()) {
        failed(failure.getCause() == null ? failure : failure.getCause());
      }
      throw failure;
    }
  }

  /**
   * Takes a connection that is not part of a transaction. The caller closes it.
   *
   * @param notAlone the error message if the connection is part of a transaction
   */
  static Connection connect(DataSource pool, String notAlone) {
    Connection connection = RecordDatabase.connect(pool);
    boolean alone = false;
    try {
      alone = connection.getAutoCommit();
      if (!alone) {
        throw new TransactionException(notAlone);
      }
      return connection;
    } catch (SQLException failure) {
      throw new TransactionException("could not use a connection of a pool", failure);
    } finally {
      if (!alone) {
        Driver.quietly("return a connection to its pool", connection::close);
      }
    }
  }

  private synchronized void failed(Throwable cause) {
    failures++;
    lastFailure = cause;
    notifyAll();
  }

  /** Keeps the pool open for a reservation until {@link #release}, even if the store is closed. */
  public synchronized void retain() {
    retained++;
  }

  /** Called when a reservation has ended. The last one closes the pool of a closed store. */
  public void release() {
    if (endsNow(/* closes= */ false)) {
      end.run();
    }
  }

  /**
   * Closes the pool, if the store owns it. Reservations whose handlers still run keep the pool
   * open: otherwise their leases would end, and their answers could not be recorded.
   */
  @Override
  public void close() {
    if (endsNow(/* closes= */ true)) {
      end.run();
    }
  }

  private synchronized boolean endsNow(boolean closes) {
    closed |= closes;
    retained -= closes ? 0 : 1;
    return closed && retained == 0;
  }
}
