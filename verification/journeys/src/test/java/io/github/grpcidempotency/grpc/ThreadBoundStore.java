package io.github.grpcidempotency.grpc;

import static java.util.stream.Collectors.toSet;

import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.Claim.Settled;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.IdempotencyStore;
import io.github.grpcidempotency.spi.RecordedOutcome;
import io.github.grpcidempotency.spi.StoreTransaction;
import io.github.grpcidempotency.spi.TransactionalStore;
import io.github.grpcidempotency.thing.ForwardingClaim;
import io.github.grpcidempotency.thing.ForwardingStore;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/**
 * A store whose transactions are bound to threads, as those of most frameworks are. It refuses to
 * end one on another thread, and to begin one on a thread that has one, and tells what was done in
 * which order.
 */
final class ThreadBoundStore extends ForwardingStore implements TransactionalStore {
  /** What happened, and on which thread. */
  record Step(String what, Thread thread) {}

  private final List<Step> steps = new CopyOnWriteArrayList<>();
  private final Set<Thread> bound = ConcurrentHashMap.newKeySet();
  private final AtomicInteger claims = new AtomicInteger();
  private final AtomicInteger endedInContext = new AtomicInteger();
  private volatile boolean taken = true;
  private volatile boolean suspended;

  ThreadBoundStore(IdempotencyStore store) {
    super(store);
  }

  /** Notes a step on the current thread. */
  void note(String what) {
    steps.add(new Step(what, Thread.currentThread()));
  }

  List<String> steps() {
    return steps.stream().map(Step::what).toList();
  }

  Set<Thread> threads() {
    return steps.stream().map(Step::thread).collect(toSet());
  }

  /** Returns how many transactions are open. */
  int open() {
    return bound.size();
  }

  /** Returns how many claims were answered. */
  int claims() {
    return claims.get();
  }

  /** Returns how many transactions have ended in the context of their handler. */
  int endedInContext() {
    return endedInContext.get();
  }

  /** Lets handlers write elsewhere from now on. */
  void passBy() {
    taken = false;
  }

  /** Lets handlers write in other transactions as well from now on. */
  void suspend() {
    suspended = true;
  }

  @Override
  public boolean bindsThreads() {
    return true;
  }

  @Override
  public void verifyTransactions() {}

  @Override
  public ClaimResult claimInTransaction(ClaimRequest request) {
    ClaimResult result = super.claim(request);
    claims.incrementAndGet();
    return result instanceof ClaimResult.Won won
        ? new ClaimResult.Won(new BoundClaim(won.claim(), new BoundTransaction()))
        : result;
  }

  @Override
  public Claim claimAtCommit(ClaimRequest request) {
    throw new UnsupportedOperationException();
  }

  @Override
  public StoreTransaction begin(Optional<Caller> caller) {
    return new BoundTransaction();
  }

  /** The claims of transactions have no lease, and stay owned. */
  @Override
  public Set<UUID> renew(Collection<Claim> claims) {
    Set<UUID> unused = super.renew(claims);
    return claims.stream().map(Claim::operationId).collect(toSet());
  }

  private final class BoundTransaction implements StoreTransaction {
    private final Thread owner = Thread.currentThread();
    private volatile boolean rollbackOnly;
    private volatile boolean over;

    BoundTransaction() {
      if (!bound.add(owner)) {
        throw new IllegalStateException("the thread has a transaction already");
      }
      note("begin");
    }

    @Override
    public boolean isTaken() {
      return taken;
    }

    @Override
    public boolean wasSuspended() {
      return suspended;
    }

    @Override
    public void setRollbackOnly() {
      rollbackOnly = true;
    }

    @Override
    public Settled commit() {
      return end("commit", () -> Settled.DONE);
    }

    @Override
    public void rollback() {
      Settled unused = end("rollback", () -> Settled.DONE);
    }

    @Override
    public void close() {
      if (!over) {
        rollback();
      }
    }

    Settled end(String how, Supplier<Settled> write) {
      if (Thread.currentThread() != owner || !bound.contains(owner)) {
        note(how + " on another thread, or twice");
        throw new IllegalStateException("the thread has no such transaction");
      }
      note(rollbackOnly ? "rollback" : how);
      endedInContext.addAndGet(CurrentOperation.hasTransaction() ? 1 : 0);
      try {
        return rollbackOnly ? Settled.ROLLED_BACK : write.get();
      } finally {
        over = true;
        bound.remove(owner);
      }
    }
  }

  private static final class BoundClaim extends ForwardingClaim {
    private final BoundTransaction transaction;

    BoundClaim(Claim claim, BoundTransaction transaction) {
      super(claim);
      this.transaction = transaction;
    }

    @Override
    public Optional<StoreTransaction> transaction() {
      return Optional.of(transaction);
    }

    @Override
    public Settled complete(RecordedOutcome outcome) {
      boolean failure = outcome instanceof RecordedOutcome.Failure;
      Settled settled =
          transaction.end(
              failure ? "rollback, and record" : "commit", () -> super.complete(outcome));
      if (settled == Settled.ROLLED_BACK) {
        Settled unused = super.release();
      }
      return settled;
    }

    @Override
    public Settled release() {
      return transaction.end("rollback", super::release);
    }

    @Override
    public void close() {
      if (!transaction.over) {
        Settled unused = release();
      }
    }

    @Override
    public Settled markUnknown() {
      return release();
    }
  }
}
