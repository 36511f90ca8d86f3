package io.github.grpcidempotency.internal.waiting;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.internal.record.KeyedRequest;
import io.github.grpcidempotency.internal.settling.LeaseKeeper;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.RecordedOutcome;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.Validate;
import org.jspecify.annotations.Nullable;

/**
 * A running call of this process, and duplicates that wait for its end. In the end every duplicate
 * that came is answered, once; at most one of them ran unless the one before it failed; and nothing
 * is held or watched.
 */
public class WaitingModel {
  private final ModelStore store = new ModelStore();
  private final ManualThreads timer = new ManualThreads();
  private final LeaseKeeper leases = ModelStore.keeperOf(store, new ManualThreads());
  private final InFlightWaiter waiter =
      new InFlightWaiter(
          (key, procedure) -> find(),
          leases,
          store,
          new WaitCapacity(WaitLimits.DEFAULT),
          new ManualThreads(),
          timer);
  private final List<Duplicate> duplicates =
      List.of(new Duplicate(), new Duplicate(), new Duplicate());
  private final AtomicReference<@Nullable Claim> running = new AtomicReference<>(run());

  /** A duplicate comes, and waits if the call still runs. */
  @Operation
  public void come(@Param(gen = IntGen.class, conf = "0:2") int duplicate) {
    duplicates.get(duplicate).come();
  }

  /** A duplicate whose turn it is goes on. */
  @Operation
  public void goOn(@Param(gen = IntGen.class, conf = "0:2") int duplicate) {
    duplicates.get(duplicate).goOn();
  }

  /** A duplicate is cancelled. */
  @Operation
  public void leave(@Param(gen = IntGen.class, conf = "0:2") int duplicate) {
    duplicates.get(duplicate).leave();
  }

  /** The call succeeds. */
  @Operation
  public void succeed() {
    Claim claim = running.getAndSet(null);
    if (claim != null) {
      succeed(claim);
    }
  }

  /** The call fails, and its key is free. */
  @Operation
  public void fail() {
    Claim claim = running.getAndSet(null);
    if (claim != null) {
      Claim.Settled unused = claim.release();
      leases.drop(claim);
    }
  }

  /** Everybody has waited long enough. */
  @Operation
  public void elapse() {
    timer.elapse();
  }

  /** The store reports the end of the calls that it watches. */
  @Operation
  public void reportEnd() {
    store.reportEnd(ModelStore.KEY);
  }

  /** The waiter is closed. */
  @Operation(runOnce = true)
  public void close() {
    waiter.close();
  }

  /** Checks the end. */
  @Validate
  public void everyDuplicateIsAnsweredOnce() {
    fail();
    for (int each = 0; each <= duplicates.size(); each++) {
      store.reportEnd(ModelStore.KEY);
      duplicates.forEach(Duplicate::goOn);
    }
    duplicates.forEach(Duplicate::check);
    check(!store.isOwned(), "a key was won and never settled");
    check(leases.inFlight(ModelStore.KEY).isEmpty(), "a key is held that nobody runs");
    check(!store.isWatched(), "a key is watched that nobody waits for");
  }

  /** Claims as the engine does. */
  private ClaimResult claim() {
    KeyedRequest request = ModelStore.request(0);
    return leases
        .inFlight(request.key())
        .map(ClaimResult.class::cast)
        .orElseGet(() -> store.claim(request.claimRequest()));
  }

  /** Looks as the engine does. */
  private Optional<ClaimResult> find() {
    KeyedRequest request = ModelStore.request(0);
    return leases
        .inFlight(request.key())
        .map(ClaimResult.class::cast)
        .or(() -> store.find(request.key(), request.claimRequest().procedure()));
  }

  private Claim run() {
    Claim claim = ((ClaimResult.Won) store.claim(ModelStore.request(0).claimRequest())).claim();
    leases.track(ModelStore.operation(leases, claim));
    return claim;
  }

  private void succeed(Claim claim) {
    Claim.Settled unused =
        claim.complete(new RecordedOutcome.Response(ByteString.EMPTY, Optional.empty()));
    leases.drop(claim);
  }

  private final class Duplicate implements InFlightWaiter.Waiting {
    private final AtomicBoolean came = new AtomicBoolean();
    private final AtomicInteger answers = new AtomicInteger();
    private final AtomicBoolean hasTurn = new AtomicBoolean();
    private volatile InFlightWaiter.@Nullable Waiter waiting;
    private volatile boolean left;

    void come() {
      if (!came.getAndSet(true)) {
        act(claim());
      }
    }

    void leave() {
      InFlightWaiter.Waiter cancelled = waiting;
      if (cancelled != null) {
        left = true;
        boolean unused = cancelled.cancel();
      }
    }

    @Override
    public void found(ClaimResult result, Duration took) {
      answer();
    }

    @Override
    public void free() {
      hasTurn.set(true);
    }

    @Override
    public void over(ClaimResult.InFlight met) {
      answer();
    }

    void goOn() {
      InFlightWaiter.Waiter turn = waiting;
      if (hasTurn.getAndSet(false) && turn != null) {
        if (!left) {
          act(claim());
        }
        turn.endTurn();
      }
    }

    private void act(ClaimResult result) {
      if (result instanceof ClaimResult.InFlight met) {
        InFlightWaiter.Waiter next = waiter.toRun(ModelStore.request(0), this);
        waiting = next;
        next.begin(met, Duration.ofMinutes(1));
        return;
      }
      answer();
      if (result instanceof ClaimResult.Won won) {
        leases.track(ModelStore.operation(leases, won.claim()));
        waiter.won(ModelStore.KEY);
        succeed(won.claim());
      }
    }

    private void answer() {
      answers.incrementAndGet();
    }

    void check() {
      int times = answers.get();
      WaitingModel.check(times <= 1, "a duplicate is answered more than once");
      WaitingModel.check(times == 1 || left || !came.get(), "a duplicate is never answered");
    }
  }

  private static void check(boolean holds, String otherwise) {
    if (!holds) {
      throw new IllegalStateException(otherwise);
    }
  }
}
