package io.github.grpcidempotency.internal.engine;

import io.github.grpcidempotency.background.RateLimitedLog;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.spi.FailurePhase;
import io.github.grpcidempotency.spi.IdempotencyStore;
import io.github.grpcidempotency.spi.RecordedProcedure;
import io.github.grpcidempotency.spi.TransactionalStore;
import io.github.grpcidempotency.store.FailureCause;
import io.github.grpcidempotency.store.SetupException;
import io.github.grpcidempotency.store.StoreException;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * The store of one engine, and its checks. If the store of a shard cannot be reached at start-up,
 * it is checked before its first call, and calls of its callers are refused until it has passed the
 * checks. Thread-safe.
 */
final class CheckedStore {
  private final RateLimitedLog log = RateLimitedLog.of(LoggerFactory.getLogger(CheckedStore.class));
  private final Optional<String> shard;
  private final IdempotencyStore store;
  private final ReentrantLock checking = new ReentrantLock();
  private volatile Optional<Runnable> unchecked = Optional.empty();

  CheckedStore(Optional<String> shard, IdempotencyStore store) {
    this.shard = shard;
    this.store = store;
  }

  Optional<String> shard() {
    return shard;
  }

  IdempotencyStore store() {
    return store;
  }

  /** Returns a problem for each procedure whose records could expire before their calls end. */
  List<String> shortRetentions(Collection<Procedure> procedures) {
    return procedures.stream()
        .filter(procedure -> procedure.retention().compareTo(store.lease()) < 0)
        .map(
            procedure ->
                ("%s: its retention of %s is shorter than the store's lease of %s, so a record could"
                        + " expire while its handler runs: set a longer retention, or a shorter"
                        + " lease")
                    .formatted(procedure.name(), procedure.retention(), store.lease()))
        .map(this::named)
        .toList();
  }

  void check(Collection<Procedure> procedures) {
    Runnable check = () -> verify(procedures);
    try {
      check.run();
    } catch (SetupException wrong) {
      throw new SetupException(wrong.problems().stream().map(this::named).toList());
    } catch (StoreException unreachable) {
      unchecked = Optional.of(check);
      throw shard.isEmpty()
          ? unreachable
          : failure(
              "its database was not checked, because it cannot be reached: "
                  + unreachable.getMessage(),
              unreachable,
              unreachable.failureCause());
    }
  }

  private void verify(Collection<Procedure> procedures) {
    try {
      store.verify(procedures.stream().map(RecordedProcedure::of).toList(), shard);
      for (Procedure procedure : procedures) {
        procedure
            .responseProtection()
            .ifPresent(
                protection ->
                    protection.verify(procedure.name(), store.answerBeginnings(procedure.name())));
      }
      verifyTransactions(procedures);
    } catch (SetupException wrong) {
      throw wrong;
    } catch (IllegalStateException wrong) {
      throw new SetupException(List.of(String.valueOf(wrong.getMessage())));
    }
  }

  private void verifyTransactions(Collection<Procedure> procedures) {
    List<Procedure> transactional =
        procedures.stream()
            .filter(procedure -> procedure.execution() == Execution.TRANSACTIONAL)
            .toList();
    if (transactional.isEmpty()) {
      return;
    }
    if (!(store instanceof TransactionalStore withTransactions)) {
      throw new SetupException(
          transactional.stream()
              .map(
                  each ->
                      ("%s: it is TRANSACTIONAL, but %s does not support transactions: choose RESERVED,"
                              + " or another store")
                          .formatted(each.name(), store.getClass().getSimpleName()))
              .toList());
    }
    withTransactions.verifyTransactions();
  }

  /**
   * Returns the store for a call, after the checks that could not run at start-up.
   *
   * @throws StoreException if the store has not passed the checks; the call can be retried
   */
  IdempotencyStore ready() {
    if (unchecked.isEmpty()) {
      return store;
    }
    if (!checking.tryLock()) {
      throw failure("its database is being checked", null, FailureCause.SHUTTING_DOWN);
    }
    try {
      unchecked.ifPresent(Runnable::run);
      unchecked = Optional.empty();
      return store;
    } catch (StoreException unreachable) {
      throw failure(
          "its database has not been checked yet", unreachable, unreachable.failureCause());
    } catch (SetupException wrong) {
      String problem = "its database failed a check of the start-up";
      log.error(
          "setup",
          null,
          named(
              problem
                  + ", so calls of its callers are refused: "
                  + String.join("; ", wrong.problems())));
      throw failure(problem, wrong, FailureCause.OTHER);
    } finally {
      checking.unlock();
    }
  }

  private String named(String problem) {
    return shard.map(name -> "shard " + name + ": " + problem).orElse(problem);
  }

  private StoreException failure(String problem, @Nullable Throwable why, FailureCause cause) {
    return StoreException.of(FailurePhase.NOTHING_SENT, cause, named(problem)).initCause(why);
  }
}
