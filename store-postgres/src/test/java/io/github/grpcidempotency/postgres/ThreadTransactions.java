package io.github.grpcidempotency.postgres;

import io.github.grpcidempotency.postgres.spi.HostTransaction;
import io.github.grpcidempotency.postgres.spi.HostTransactions;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;

/**
 * Transactions that are bound to threads, as those of frameworks are, with what frameworks do: they
 * hold writes back until the commit, wrap exceptions in their own, and run others beside the
 * current one.
 */
final class ThreadTransactions implements HostTransactions {
  private final DataSource pool;
  private final Map<Thread, Bound> bound = new ConcurrentHashMap<>();
  private UnaryOperator<Connection> view = connection -> connection;
  private Consumer<Connection> settings = connection -> {};
  private Consumer<String> step = step -> {};
  private boolean forgetful;
  private boolean swallowing;
  private boolean opaque;
  private Optional<HostTransaction.Completion> afterwards = Optional.empty();

  /** What the framework throws, whatever has happened. */
  static final class HostException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    HostException(Throwable cause) {
      super("the framework has failed", cause);
    }
  }

  /** Something that may fail as JDBC does. */
  interface Sql {
    void run() throws SQLException;
  }

  ThreadTransactions(DataSource pool) {
    this.pool = pool;
  }

  /** Takes back everything that was set. */
  void behave() {
    view = connection -> connection;
    settings = connection -> {};
    step = moment -> {};
    forgetful = false;
    swallowing = false;
    opaque = false;
    afterwards = Optional.empty();
  }

  /** Shows connections in another way. */
  ThreadTransactions view(UnaryOperator<Connection> other) {
    this.view = other;
    return this;
  }

  /** Does something with every connection before its transaction begins. */
  ThreadTransactions settings(Consumer<Connection> work) {
    this.settings = work;
    return this;
  }

  /**
   * Does something at every step: {@code begin}, {@code early flush}, {@code flush}, {@code
   * commit}, {@code committed}, {@code mark}.
   */
  ThreadTransactions step(Consumer<String> work) {
    this.step = work;
    return this;
  }

  /** Does not say why a commit has failed. */
  ThreadTransactions opaque() {
    this.opaque = true;
    return this;
  }

  /** Commits without the record. */
  ThreadTransactions forgetful() {
    this.forgetful = true;
    return this;
  }

  /** Commits even if the record fails. */
  ThreadTransactions swallowing() {
    this.swallowing = true;
    return this;
  }

  /** Commits, but says something else, or fails, afterwards. */
  ThreadTransactions saying(HostTransaction.Completion completion) {
    this.afterwards = Optional.of(completion);
    return this;
  }

  @Override
  public Bound begin(String name) {
    step.accept("begin");
    Bound begun = new Bound(bound());
    begun.suspended.ifPresent(outer -> outer.wasSuspended = true);
    bound.put(Thread.currentThread(), begun);
    return begun;
  }

  @Override
  public boolean isActive() {
    return bound().isPresent();
  }

  @Override
  public void setRollbackOnly() {
    step.accept("mark");
    required().rollbackOnly = true;
  }

  private Optional<Bound> bound() {
    return Optional.ofNullable(bound.get(Thread.currentThread()));
  }

  /** Returns what the handler writes through, as a framework's template does. */
  Handle handle() {
    return Jdbi.open(required().connection());
  }

  /** Holds work back until just before the commit. */
  void atFlush(Consumer<Handle> work) {
    required().heldBack.add(work);
  }

  /** Runs work in a transaction of its own, beside the current one. Returns how it ended. */
  HostTransaction.Completion inNew(Runnable work) {
    Bound own = begin("new");
    try {
      work.run();
      return own.commit(() -> {});
    } finally {
      own.rollback();
    }
  }

  Bound required() {
    return bound().orElseThrow();
  }

  static void sql(Sql work) {
    try {
      work.run();
    } catch (SQLException failure) {
      throw new HostException(failure);
    }
  }

  final class Bound implements HostTransaction {
    private final Optional<Bound> suspended;
    private final Connection physical;
    private final List<Consumer<Handle>> heldBack = new ArrayList<>();
    private boolean rollbackOnly;
    private boolean wasSuspended;
    private Optional<Completion> ended = Optional.empty();

    private Bound(Optional<Bound> suspended) {
      this.suspended = suspended;
      try {
        this.physical = pool.getConnection();
      } catch (SQLException failure) {
        throw new HostException(failure);
      }
      try {
        settings.accept(physical);
        sql(() -> physical.setAutoCommit(false));
      } catch (RuntimeException failure) {
        sql(physical::close);
        throw new HostException(failure);
      }
    }

    @Override
    public Connection connection() {
      return view.apply(physical);
    }

    @Override
    public boolean wasSuspended() {
      return wasSuspended;
    }

    @Override
    public Completion commit(Runnable record) {
      if (rollbackOnly) {
        rollback();
      }
      if (ended.isPresent()) {
        return ended.get();
      }
      try {
        step.accept("flush");
        heldBack.forEach(work -> work.accept(Jdbi.open(physical)));
        if (!forgetful) {
          run(record);
        }
        step.accept("commit");
      } catch (Error failure) {
        rollback();
        throw failure;
      } catch (RuntimeException failure) {
        rollback();
        throw new HostException(opaque ? new IllegalStateException("no reason given") : failure);
      }
      try {
        commitPhysically();
      } catch (SQLException failure) {
        rollBackPhysically();
        end(Completion.UNKNOWN);
        throw new HostException(failure);
      } catch (RuntimeException failure) {
        rollback();
        throw new HostException(failure);
      }
      end(afterwards.orElse(Completion.COMMITTED));
      step.accept("committed");
      return afterwards.orElse(Completion.COMMITTED);
    }

    private void run(Runnable record) {
      try {
        record.run();
      } catch (RuntimeException failure) {
        if (!swallowing) {
          throw failure;
        }
      }
    }

    private void commitPhysically() throws SQLException {
      physical.commit();
    }

    @Override
    public void rollback() {
      if (ended.isEmpty()) {
        rollBackPhysically();
        end(Completion.ROLLED_BACK);
      }
    }

    private void rollBackPhysically() {
      try {
        sql(physical::rollback);
      } catch (HostException unreachable) {
        // the database does it
      }
    }

    private void end(Completion completion) {
      ended = Optional.of(completion);
      Thread thread = Thread.currentThread();
      suspended.ifPresentOrElse(outer -> bound.put(thread, outer), () -> bound.remove(thread));
      try {
        sql(physical::close);
      } catch (HostException unreachable) {
        // it is gone
      }
    }
  }
}
