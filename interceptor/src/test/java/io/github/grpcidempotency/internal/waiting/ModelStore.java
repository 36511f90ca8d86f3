package io.github.grpcidempotency.internal.waiting;

import com.google.protobuf.ByteString;
import com.google.protobuf.Empty;
import io.github.grpcidempotency.background.RateLimitedLog;
import io.github.grpcidempotency.event.Entry;
import io.github.grpcidempotency.internal.event.CallEvents;
import io.github.grpcidempotency.internal.event.DecisionLog;
import io.github.grpcidempotency.internal.event.Listeners;
import io.github.grpcidempotency.internal.event.ProcedureInfo;
import io.github.grpcidempotency.internal.record.KeyedRequest;
import io.github.grpcidempotency.internal.settling.LeaseKeeper;
import io.github.grpcidempotency.internal.settling.OwnedClaim;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.Fingerprint;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.CompletionWatch;
import io.github.grpcidempotency.spi.IdempotencyStore;
import io.github.grpcidempotency.spi.RecordedOutcome;
import io.github.grpcidempotency.spi.RecordedProcedure;
import io.github.grpcidempotency.testing.v1.ThingServiceGrpc;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.helpers.NOPLogger;

/**
 * A store for one key, without threads, clocks and randomness, so that every order in which threads
 * use it can be tried.
 */
final class ModelStore implements IdempotencyStore {
  static final IdempotencyKey KEY = new IdempotencyKey(Caller.of(new UUID(1, 1)), "key");

  private static final Procedure PROCEDURE =
      Procedure.of(ThingServiceGrpc.getCreateOtherMethod()).build();
  private static final RecordedOutcome ANSWER =
      new RecordedOutcome.Response(ByteString.EMPTY, Optional.empty());

  private @Nullable Claim owner;
  private boolean recorded;
  private boolean watched;
  private Consumer<IdempotencyKey> ended = key -> {};

  /** Returns what a call asks for: the key, with a fingerprint that tells calls apart. */
  static KeyedRequest request(int call) {
    return new KeyedRequest(
        KEY,
        PROCEDURE,
        new Fingerprint(call, ByteString.EMPTY),
        Empty.getDefaultInstance(),
        PROCEDURE.retention(),
        Optional.empty(),
        false);
  }

  /** Returns the operation of a call whose claim was won. Nobody hears of it. */
  static OwnedClaim operation(LeaseKeeper leases, Claim claim) {
    return new OwnedClaim(
        leases,
        request(claim.request().fingerprint().version()),
        claim,
        CallEvents.capture(
            new Listeners(List.of()),
            new DecisionLog(Optional.empty()),
            ProcedureInfo.of(PROCEDURE, Entry.CALL)),
        0);
  }

  static LeaseKeeper keeperOf(ModelStore store, ManualThreads renewals) {
    return new LeaseKeeper(
        store,
        new Listeners(List.of()),
        Optional.empty(),
        renewals,
        RateLimitedLog.of(NOPLogger.NOP_LOGGER));
  }

  /** Lets the owner's lease end, and its key be free. */
  synchronized void expire() {
    owner = null;
  }

  synchronized Optional<Claim> owner() {
    return Optional.ofNullable(owner);
  }

  synchronized boolean isOwned() {
    return owner != null;
  }

  synchronized boolean isWatched() {
    return watched;
  }

  /** Tells of the end of what is watched, if it has ended. */
  void reportEnd(IdempotencyKey key) {
    if (isWatched() && !isOwned()) {
      ended.accept(key);
    }
  }

  @Override
  public synchronized ClaimResult claim(ClaimRequest request) {
    Optional<ClaimResult> found = find(request.key(), request.procedure());
    if (found.isPresent()) {
      return found.get();
    }
    ModelClaim won = new ModelClaim(request);
    owner = won;
    return new ClaimResult.Won(won);
  }

  @Override
  public synchronized Set<UUID> renew(Collection<Claim> claims) {
    Set<UUID> renewed = new HashSet<>();
    claims.stream()
        .filter(claim -> claim == owner)
        .forEach(claim -> renewed.add(claim.operationId()));
    return renewed;
  }

  @Override
  public CompletionWatch watch(Consumer<IdempotencyKey> reported) {
    ended = reported;
    return new CompletionWatch() {
      @Override
      public void add(IdempotencyKey key) {
        setWatched(true);
      }

      @Override
      public void remove(IdempotencyKey key) {
        setWatched(false);
      }

      @Override
      public void close() {
        setWatched(false);
      }
    };
  }

  private synchronized void setWatched(boolean watched) {
    this.watched = watched;
  }

  @Override
  public Duration lease() {
    return Duration.ofSeconds(30);
  }

  @Override
  public void verify(Collection<RecordedProcedure> procedures, Optional<String> shard) {}

  @Override
  public synchronized Optional<ClaimResult> find(IdempotencyKey key, RecordedProcedure procedure) {
    if (recorded) {
      return Optional.of(
          ClaimResult.Recorded.of(
              new UUID(0, 0),
              procedure.name(),
              new Fingerprint(0, ByteString.EMPTY),
              ANSWER,
              Instant.EPOCH));
    }
    return owner == null ? Optional.empty() : Optional.of(ClaimResult.InFlight.unseen());
  }

  @Override
  public Instant retain(ClaimRequest request, ClaimResult.Recorded record) {
    return record.expires();
  }

  private final class ModelClaim implements Claim {
    private final ClaimRequest request;

    ModelClaim(ClaimRequest request) {
      this.request = request;
    }

    @Override
    public ClaimRequest request() {
      return request;
    }

    @Override
    public int attempt() {
      return 1;
    }

    @Override
    public UUID operationId() {
      return new UUID(0, request.fingerprint().version());
    }

    @Override
    public Instant expires() {
      return Instant.EPOCH;
    }

    @Override
    public Settled complete(RecordedOutcome outcome) {
      return settle(true);
    }

    @Override
    public Settled release() {
      return settle(false);
    }

    @Override
    public Settled markUnknown() {
      return settle(false);
    }

    private Settled settle(boolean answered) {
      synchronized (ModelStore.this) {
        if (owner != this) {
          return Settled.LOST;
        }
        owner = null;
        recorded = answered;
        return Settled.DONE;
      }
    }
  }
}
