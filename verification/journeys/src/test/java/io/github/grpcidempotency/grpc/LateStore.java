package io.github.grpcidempotency.grpc;

import static java.util.stream.Collectors.toSet;

import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.Claim.Settled;
import io.github.grpcidempotency.store.ClaimRequest;
import io.github.grpcidempotency.store.ClaimResult;
import io.github.grpcidempotency.store.IdempotencyStore;
import io.github.grpcidempotency.store.PendingClaim;
import io.github.grpcidempotency.store.RecordedOutcome;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.store.StoreTransaction;
import io.github.grpcidempotency.store.TransactionalStore;
import io.github.grpcidempotency.store.handler.CurrentHandler;
import io.github.grpcidempotency.thing.ForwardingClaim;
import io.github.grpcidempotency.thing.ForwardingStore;
import io.grpc.Context;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/**
 * A store with transactions in memory, whose claims may travel with the first statement. Handlers
 * {@link #write} effects, which count once their transaction has committed.
 */
final class LateStore extends ForwardingStore implements TransactionalStore {
  /** Stops a handler at its first statement. */
  static final class Preempted extends RuntimeException {
    private static final long serialVersionUID = 1;
  }

  private final boolean bindsThreads;
  private final List<String> asked = new CopyOnWriteArrayList<>();
  private final List<String> effects = new CopyOnWriteArrayList<>();
  private final List<String> misuses = new CopyOnWriteArrayList<>();
  private final AtomicInteger open = new AtomicInteger();
  private volatile boolean cutOff;
  private volatile boolean unreachable;

  LateStore(IdempotencyStore store, boolean bindsThreads) {
    super(store);
    this.bindsThreads = bindsThreads;
  }

  /** Runs a statement of the current handler. */
  static void write(String effect) {
    ((Transaction) CurrentHandler.transaction().orElseThrow()).write(effect);
  }

  /** Runs a statement of the current handler that fails. */
  static void writeInVain() {
    ((Transaction) CurrentHandler.transaction().orElseThrow()).fail();
  }

  /** Returns in which way claims were made: later, at once, or after a look. */
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

  /** Cuts the connection of the next first statement. */
  void cutOff() {
    cutOff = true;
  }

  /** Lets no claim be confirmed any more. */
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
  public void verifyLateClaims() {}

  @Override
  public ClaimResult claimInTransaction(ClaimRequest request) {
    asked.add(request.retry() ? "after a look" : "at once");
    ClaimResult result = super.claim(request);
    return result instanceof ClaimResult.Won won
        ? new ClaimResult.Won(new TransactionClaim(won.claim(), new Transaction(() -> {})))
        : result;
  }

  @Override
  public PendingClaim claimLater(ClaimRequest request) {
    asked.add("later");
    return new LateClaim(request);
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

  private final class LateClaim implements PendingClaim {
    private final UUID withoutRecord = UUID.randomUUID();
    private final ClaimRequest request;
    private volatile Optional<Claim> won = Optional.empty();
    private volatile Transaction transaction;
    private volatile boolean preempted;
    private volatile boolean confirmed;

    LateClaim(ClaimRequest request) {
      this.request = request;
      this.transaction = new Transaction(this::comeWithStatement);
    }

    void comeWithStatement() {
      if (won.isEmpty()) {
        won = claim();
        preempted = won.isEmpty();
      }
      if (preempted) {
        throw new Preempted();
      }
    }

    private Optional<Claim> claim() {
      if (cutOff) {
        cutOff = false;
        return Optional.empty();
      }
      return LateStore.super.claim(request) instanceof ClaimResult.Won met
          ? Optional.of(met.claim())
          : Optional.empty();
    }

    @Override
    public boolean isWon() {
      return won.isPresent();
    }

    @Override
    public Optional<Claim> confirm() {
      if (Context.current().isCancelled()) {
        misuses.add("confirmed in a context that is cancelled");
      }
      if (unreachable) {
        transaction.rollback();
        throw new StoreException("cut off", null);
      }
      if (won.isEmpty() && !preempted) {
        transaction.rollback();
        won = claim();
        transaction = won.isPresent() ? new Transaction(() -> {}) : transaction;
      }
      if (won.isEmpty()) {
        transaction.rollback();
      }
      confirmed = won.isPresent();
      return won.map(claim -> new TransactionClaim(claim, transaction));
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
    public StoreTransaction transaction() {
      return transaction;
    }

    @Override
    public void close() {
      if (!confirmed) {
        transaction.close();
      }
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
    private final Runnable first;
    private final List<String> written = new ArrayList<>();
    private volatile boolean taken;
    private boolean ended;

    Transaction(Runnable first) {
      this.first = first;
      open.incrementAndGet();
    }

    void write(String effect) {
      taken = true;
      first.run();
      written.add(effect);
    }

    void fail() {
      taken = true;
      throw new IllegalStateException("the statement has failed");
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
