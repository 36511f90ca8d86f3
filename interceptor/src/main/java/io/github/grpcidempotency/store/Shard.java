package io.github.grpcidempotency.store;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.procedure.IdempotencyStatus;
import io.github.grpcidempotency.procedure.SetupException;
import io.github.grpcidempotency.store.support.RateLimitedLog;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.slf4j.LoggerFactory;

/**
 * One store of several. If the store could not be reached at start-up, it is checked before its
 * first call, and calls of its callers are refused until it has passed the checks. Thread-safe.
 */
final class Shard implements TransactionalStore, OperationStore {
  private final RateLimitedLog log = RateLimitedLog.of(LoggerFactory.getLogger(ShardedStore.class));
  private final String name;
  private final IdempotencyStore store;
  private final Deque<Runnable> unchecked = new ArrayDeque<>();
  private final ReentrantLock checking = new ReentrantLock();
  private volatile boolean sound = true;

  Shard(String name, IdempotencyStore store) {
    this.name = name;
    this.store = store;
  }

  @Override
  public void verify(Collection<RecordedProcedure> procedures) {
    check(
        () -> {
          store.verify(procedures);
          verifyMark();
        });
  }

  /**
   * Checks the shard's name in the database. If the databases of two shards were swapped, retries
   * would not find their records.
   */
  private void verifyMark() {
    Optional<String> mark = store.markedShard();
    if (mark.isEmpty()) {
      log.warn(
          "unmarked",
          null,
          named(
              "its database does not contain the shard's name, so the server could not detect"
                  + " that two databases are swapped"));
    } else if (!mark.get().equals(name)) {
      throw new SetupException(
          List.of("its database contains the name of another shard: " + mark.get()));
    }
  }

  @Override
  public void verifyTransactions() {
    check(transactional()::verifyTransactions);
  }

  @Override
  public void verifyLateClaims() {
    check(transactional()::verifyLateClaims);
  }

  private void check(Runnable check) {
    checking.lock();
    try {
      if (!unchecked.isEmpty()) {
        unchecked.add(check); // the checks before this one have not run either
        return;
      }
      check.run();
    } catch (SetupException wrong) {
      throw new SetupException(wrong.problems().stream().map(this::named).toList());
    } catch (IllegalStateException wrong) {
      throw new SetupException(List.of(named(String.valueOf(wrong.getMessage()))));
    } catch (StoreException unreachable) {
      unchecked.add(check);
      sound = false;
      throw new StoreException(
          named(
              "its database was not checked, because it cannot be reached: "
                  + unreachable.getMessage()),
          unreachable,
          unreachable.phase(),
          unreachable.failureCause());
    } finally {
      checking.unlock();
    }
  }

  /**
   * Runs the checks that could not run at start-up. Until they have passed, other calls are refused
   * and can be retried.
   */
  private void awaitSound() {
    if (sound) {
      return;
    }
    if (!checking.tryLock()) {
      throw new StoreException(
          named("its database is being checked"),
          null,
          FailurePhase.NOTHING_SENT,
          FailureCause.SHUTTING_DOWN);
    }
    try {
      while (!unchecked.isEmpty()) {
        unchecked.element().run();
        unchecked.remove();
      }
      sound = true;
    } catch (StoreException unreachable) {
      throw new StoreException(
          named("its database has not been checked yet"),
          unreachable,
          FailurePhase.NOTHING_SENT,
          unreachable.failureCause());
    } catch (SetupException wrong) {
      log.error(
          "setup",
          null,
          named(
              "its database failed a check of the start-up, so calls of its callers are refused: "
                  + String.join("; ", wrong.problems())));
      throw new StoreException(
          named("its database failed a check of the start-up"),
          wrong,
          FailurePhase.NOTHING_SENT,
          FailureCause.OTHER);
    } finally {
      checking.unlock();
    }
  }

  private String named(String problem) {
    return "shard " + name + ": " + problem;
  }

  private IdempotencyStore sound() {
    awaitSound();
    return store;
  }

  private TransactionalStore transactional() {
    if (store instanceof TransactionalStore transactional) {
      return transactional;
    }
    throw new SetupException(
        List.of(named(store.getClass().getSimpleName() + " does not support transactions")));
  }

  private TransactionalStore soundTransactional() {
    awaitSound();
    return transactional();
  }

  @Override
  public ClaimResult claim(ClaimRequest request) {
    return sound().claim(request);
  }

  @Override
  public ClaimResult claimInTransaction(ClaimRequest request) {
    return soundTransactional().claimInTransaction(request);
  }

  @Override
  public PendingClaim claimLater(ClaimRequest request) {
    return soundTransactional().claimLater(request);
  }

  @Override
  public StoreTransaction begin(Optional<Caller> caller) {
    return soundTransactional().begin(caller);
  }

  @Override
  public Optional<ClaimResult> find(IdempotencyKey key, RecordedProcedure procedure) {
    return sound().find(key, procedure);
  }

  @Override
  public Set<ByteString> answerBeginnings(String procedure) {
    return sound().answerBeginnings(procedure);
  }

  @Override
  public Instant retain(ClaimRequest request, ClaimResult.Recorded recorded) {
    return sound().retain(request, recorded);
  }

  @Override
  public boolean bindsThreads() {
    return store instanceof TransactionalStore transactional && transactional.bindsThreads();
  }

  @Override
  public Set<UUID> renew(Collection<Claim> claims) {
    return store.renew(claims);
  }

  @Override
  public CompletionWatch watch(Consumer<IdempotencyKey> ended) {
    return store.watch(ended);
  }

  @Override
  public Duration lease() {
    return store.lease();
  }

  @Override
  public OperationCatalog operations(Collection<RecordedProcedure> procedures) {
    if (!(store instanceof OperationStore operations)) {
      throw new SetupException(
          List.of(named(store.getClass().getSimpleName() + " cannot find operations by id")));
    }
    Catalog catalog = new Catalog(operations, procedures);
    if (sound) {
      try {
        OperationCatalog unused = catalog.opened();
      } catch (StoreException unreachable) {
        log.warn(
            "operations",
            unreachable,
            named("its operations cannot be found until its database can be reached"));
      }
    }
    return catalog;
  }

  /** The operations of a store, opened when the store is first reached. */
  private final class Catalog implements OperationCatalog {
    private final OperationStore operations;
    private final Collection<RecordedProcedure> procedures;
    private Optional<OperationCatalog> opened = Optional.empty();

    Catalog(OperationStore operations, Collection<RecordedProcedure> procedures) {
      this.operations = operations;
      this.procedures = procedures;
    }

    private synchronized OperationCatalog opened() {
      awaitSound();
      if (opened.isEmpty()) {
        opened = Optional.of(operations.operations(procedures));
      }
      return opened.get();
    }

    @Override
    public List<StoredOperation> find(Caller caller, Collection<UUID> operationIds) {
      return opened().find(caller, operationIds);
    }

    @Override
    public List<StoredOperation> list(
        Caller caller, Set<String> names, Optional<UUID> before, int limit) {
      return opened().list(caller, names, before, limit);
    }

    @Override
    public boolean forget(Caller caller, UUID operationId) {
      return opened().forget(caller, operationId);
    }

    @Override
    public Map<OwnedResource, IdempotencyStatus> statuses(
        RecordedProcedure procedure, Collection<OwnedResource> resources) {
      return opened().statuses(procedure, resources);
    }
  }
}
