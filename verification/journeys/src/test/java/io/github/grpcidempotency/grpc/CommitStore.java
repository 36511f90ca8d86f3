package io.github.grpcidempotency.grpc;

import static java.util.stream.Collectors.toSet;

import io.github.grpcidempotency.grpc.spi.CurrentHandler;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.Claim.Settled;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.FailurePhase;
import io.github.grpcidempotency.spi.IdempotencyStore;
import io.github.grpcidempotency.spi.RecordedOutcome;
import io.github.grpcidempotency.spi.StoreTransaction;
import io.github.grpcidempotency.spi.TransactionalStore;
import io.github.grpcidempotency.store.FailureCause;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.thing.ForwardingClaim;
import io.github.grpcidempotency.thing.ForwardingStore;
import io.grpc.Context;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * A store with transactions in memory, whose claims may be made at the commit. Handlers {@link
 * #write} effects, which count once their transaction has committed.
 */
final class CommitStore extends ForwardingStore implements TransactionalStore {
  private final boolean bindsThreads;
  private final List<String> asked = new CopyOnWriteArrayList<>();
  private final List<String> effects = new CopyOnWriteArrayList<>();
  private final List<String> misuses = new CopyOnWriteArrayList<>();
  private final AtomicInteger open = new AtomicInteger();
  private volatile boolean cutOff;
  private volatile boolean unreachable;
  private volatile boolean defective;

  CommitStore(IdempotencyStore store, boolean bindsThreads) {
    super(store);
    this.bindsThreads = bindsThreads;
  }

  /** Runs a statement of the current handler. */
  static void write(String effect) {
    ((Transaction) CurrentHandler.transaction().orElseThrow()).write(effect);
  }

  /** Returns in which way claims were made: at commit, at once, or after a look. */
  List<String> asked() {
    return asked;
  }

  /** Returns what was committed. */
  List<String> effects() {
    return effects;
  }

  /** Returns what was done that must not be done. */
  List<String> misuses() {
    return misuses;
  }

  /** Returns how many transactions are open. */
  int open() {
    return open.get();
  }

  /** Cuts the connection of the next commit. */
  void cutOff() {
    cutOff = true;
  }

  /** Lets the next claim at commit throw an error when it is settled without a commit. */
  void throwFromRelease() {
    defective = true;
  }

  /** Lets no claim be made any more. */
  void breakDown() {
    unreachable = true;
  }

  @Override
  public boolean bindsThreads() {
    return bindsThreads;
  }

  @Override
  public void verifyTransactions() {}

  @Override
  public ClaimResult claimInTransaction(ClaimRequest request) {
    asked.add(request.retry() ? "after a look" : "at once");
    checkReachable();
    ClaimResult result = super.claim(request);
    return result instanceof ClaimResult.Won won
        ? new ClaimResult.Won(new TransactionClaim(won.claim(), new Transaction()))
        : result;
  }

  @Override
  public Claim claimAtCommit(ClaimRequest request) {
    asked.add("at commit");
    checkReachable();
    return new CommitClaim(request, new Transaction());
  }

  private void checkReachable() {
    if (unreachable) {
      throw StoreException.of(FailurePhase.NOTHING_SENT, FailureCause.NO_CONNECTION, "cut off");
    }
  }

  @Override
  public StoreTransaction begin(Optional<Caller> caller) {
    throw new UnsupportedOperationException();
  }

  /** Transactions have no lease. */
  @Override
  public Set<UUID> renew(Collection<Claim> claims) {
    return claims.stream().map(Claim::operationId).collect(toSet());
  }

  /** The record makes the claim. */
  private final class CommitClaim implements Claim {
    private final UUID withoutRecord = UUID.randomUUID();
    private final ClaimRequest request;
    private final Transaction transaction;
    private volatile Optional<Claim> won = Optional.empty();

    CommitClaim(ClaimRequest request, Transaction transaction) {
      this.request = request;
      this.transaction = transaction;
    }

    @Override
    public boolean isOptimistic() {
      return true;
    }

    @Override
    public ClaimRequest request() {
      return request;
    }

    @Override
    public UUID operationId() {
      return won.map(Claim::operationId).orElse(withoutRecord);
    }

    @Override
    public int attempt() {
      return 1;
    }

    @Override
    public Instant expires() {
      return won.map(Claim::expires).orElse(Instant.MAX);
    }

    @Override
    public Optional<StoreTransaction> transaction() {
      return Optional.of(transaction);
    }

    @Override
    public Settled complete(RecordedOutcome outcome) {
      return settle(
          !(outcome instanceof RecordedOutcome.Failure), claim -> claim.complete(outcome));
    }

    @Override
    public Settled release() {
      return settle(false, Claim::release);
    }

    @Override
    public Settled markUnknown() {
      return release();
    }

    private Settled settle(boolean commits, Function<Claim, Settled> settlement) {
      if (Context.current().isCancelled()) {
        misuses.add("settled in a context that is cancelled");
      }
      if (defective && !commits) {
        defective = false;
        transaction.rollback();
        throw new NoClassDefFoundError("on purpose");
      }
      if (!cutOff && CommitStore.super.claim(request) instanceof ClaimResult.Won met) {
        won = Optional.of(met.claim());
        return transaction.end(commits, () -> settlement.apply(met.claim()));
      }
      cutOff = false;
      return transaction.end(false, () -> Settled.PREEMPTED);
    }

    @Override
    public void close() {
      transaction.rollback();
    }
  }

  private static final class TransactionClaim extends ForwardingClaim {
    private final Transaction transaction;

    TransactionClaim(Claim claim, Transaction transaction) {
      super(claim);
      this.transaction = transaction;
    }

    @Override
    public int attempt() {
      return 1;
    }

    @Override
    public Optional<StoreTransaction> transaction() {
      return Optional.of(transaction);
    }

    @Override
    public Settled complete(RecordedOutcome outcome) {
      boolean failure = outcome instanceof RecordedOutcome.Failure;
      return transaction.end(!failure, () -> super.complete(outcome));
    }

    @Override
    public Settled release() {
      return transaction.end(false, super::release);
    }

    @Override
    public void close() {
      if (!transaction.ended) {
        Settled unused = release();
      }
    }

    @Override
    public Settled markUnknown() {
      return release();
    }
  }

  private final class Transaction implements StoreTransaction {
    private final Thread owner = Thread.currentThread();
    private final List<String> written = new ArrayList<>();
    private volatile boolean taken;
    private boolean ended;

    Transaction() {
      open.incrementAndGet();
    }

    void write(String effect) {
      taken = true;
      written.add(effect);
    }

    @Override
    public boolean isTaken() {
      return taken;
    }

    @Override
    public void setRollbackOnly() {
      throw new UnsupportedOperationException();
    }

    @Override
    public Settled commit() {
      throw new UnsupportedOperationException();
    }

    @Override
    public synchronized void rollback() {
      if (!ended) {
        Settled unused = end(false, () -> Settled.DONE);
      }
    }

    @Override
    public void close() {
      rollback();
    }

    synchronized Settled end(boolean commits, Supplier<Settled> record) {
      if (ended || (bindsThreads && Thread.currentThread() != owner)) {
        misuses.add("ended twice, or on another thread");
      }
      ended = true;
      open.decrementAndGet();
      if (commits) {
        effects.addAll(written);
      }
      return record.get();
    }
  }
}
