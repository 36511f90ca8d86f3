package io.github.grpcidempotency.testing;

import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.Fingerprint;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.ClaimRequest;
import io.github.grpcidempotency.store.ClaimResult;
import io.github.grpcidempotency.store.CompletionWatch;
import io.github.grpcidempotency.store.IdempotencyStore;
import io.github.grpcidempotency.store.RecordedOutcome;
import io.github.grpcidempotency.store.ReplayStatus;
import io.github.grpcidempotency.store.StoreTransaction;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A store for tests of services: it keeps what it is told for as long as the JVM lives. Its clock
 * is the system's, and can be put forward, so that a test need not wait for a lease or a record to
 * end.
 *
 * <p>Thread-safe.
 */
public final class InMemoryIdempotencyStore implements IdempotencyStore {
  private final Duration lease;
  private final Map<IdempotencyKey, Row> rows = new ConcurrentHashMap<>();
  private final AtomicReference<Duration> ahead = new AtomicReference<>(Duration.ZERO);

  /** What stands under a key. The owner is the fence: only the very claim that won it matches. */
  private record Row(
      Reservation owner, Instant leaseEnds, boolean unknown, Optional<RecordedOutcome> outcome) {
    boolean isFree(Instant now) {
      return !owner.expires.isAfter(now) && (outcome.isPresent() || isAbandoned(now));
    }

    boolean isAbandoned(Instant now) {
      return outcome.isEmpty() && !leaseEnds.isAfter(now);
    }

    boolean isFor(ClaimRequest request) {
      return owner.request.procedure().name().equals(request.procedure().name())
          && request.compare(owner.request.fingerprint()) == Fingerprint.Match.SAME;
    }
  }

  /** Makes a store with leases of 30 seconds. */
  public InMemoryIdempotencyStore() {
    this(Duration.ofSeconds(30));
  }

  /** Makes a store. */
  public InMemoryIdempotencyStore(Duration lease) {
    this.lease = lease;
  }

  /** Puts the store's clock forward: leases and records end that much sooner. */
  public void advance(Duration time) {
    ahead.accumulateAndGet(time, Duration::plus);
  }

  @Override
  public void verify(Collection<Procedure> procedures) {}

  @Override
  public ClaimResult claim(ClaimRequest request) {
    Instant now = now();
    Reservation fresh =
        new Reservation(request, UUID.randomUUID(), 1, now.plus(request.retention()));
    AtomicReference<Reservation> won = new AtomicReference<>();
    Row standing =
        rows.compute(
            request.key(),
            (key, row) -> {
              won.set(claimant(row, fresh, now));
              return won.get() == null ? row : reserved(won.get(), now);
            });
    return won.get() == null ? told(standing, request, now) : new ClaimResult.Won(won.get());
  }

  @Override
  public Instant retain(ClaimRequest request, ClaimResult.Recorded recorded) {
    Row row = rows.get(request.key());
    return row == null ? recorded.expires() : row.owner.retainFor(request, now());
  }

  @Override
  public Set<UUID> renew(Collection<Claim> claims) {
    Set<UUID> renewed = new HashSet<>();
    for (Claim claim : claims) {
      Reservation reservation = (Reservation) claim;
      if (change(
          reservation, row -> new Row(reservation, now().plus(lease), row.unknown, row.outcome))) {
        renewed.add(claim.operationId());
      }
    }
    return renewed;
  }

  @Override
  public StoreTransaction begin(Optional<Caller> caller) {
    throw new UnsupportedOperationException(
        "the store in memory has no transactions: transactional procedures need a"
            + " PostgresIdempotencyStore, in tests too");
  }

  @Override
  public CompletionWatch watch(Consumer<IdempotencyKey> ended) {
    return new InMemoryCompletionWatch(this::isInFlight, ended);
  }

  @Override
  public Duration lease() {
    return lease;
  }

  /** Returns who owns the key now, if this claim wins it. */
  private static @Nullable Reservation claimant(@Nullable Row row, Reservation fresh, Instant now) {
    if (row == null || row.isFree(now)) {
      return fresh;
    }
    return row.isAbandoned(now) && row.isFor(fresh.request) ? fresh.inPlaceOf(row.owner) : null;
  }

  private Row reserved(Reservation owner, Instant now) {
    return new Row(owner, now.plus(lease), false, Optional.empty());
  }

  private static ClaimResult told(Row row, ClaimRequest request, Instant now) {
    ClaimRequest first = row.owner.request;
    if (row.outcome.isEmpty()) {
      return new ClaimResult.InFlight(
          Optional.of(first.fingerprint()),
          Optional.of(first.procedure().name()),
          Optional.of(row.isAbandoned(now) ? Duration.ZERO : Duration.between(now, row.leaseEnds)),
          row.unknown);
    }
    RecordedOutcome outcome = row.outcome.get();
    Optional<UUID> resource =
        outcome instanceof RecordedOutcome.Response response
            ? response.resourceId()
            : Optional.empty();
    return new ClaimResult.Recorded(
        first.fingerprint(),
        first.procedure().name(),
        row.owner.operationId,
        row.owner.expires,
        outcome,
        ReplayStatus.of(request.procedure(), resource));
  }

  /** Changes a reservation if it is still its owner's, and tells whether it was. */
  private boolean change(Reservation owner, UnaryOperator<@Nullable Row> change) {
    AtomicBoolean owned = new AtomicBoolean();
    rows.computeIfPresent(
        owner.request.key(),
        (key, row) -> {
          owned.set(row.owner == owner && row.outcome.isEmpty());
          return owned.get() ? change.apply(row) : row;
        });
    return owned.get();
  }

  private boolean isInFlight(IdempotencyKey key) {
    Row row = rows.get(key);
    return row != null && row.outcome.isEmpty() && !row.isAbandoned(now());
  }

  private Instant now() {
    return Instant.now().plus(ahead.get());
  }

  private final class Reservation implements Claim {
    private final ClaimRequest request;
    private final UUID operationId;
    private final int attempt;
    private volatile Instant expires;

    Reservation(ClaimRequest request, UUID operationId, int attempt, Instant expires) {
      this.request = request;
      this.operationId = operationId;
      this.attempt = attempt;
      this.expires = expires;
    }

    Reservation inPlaceOf(Reservation predecessor) {
      return new Reservation(
          request, predecessor.operationId, predecessor.attempt + 1, predecessor.expires);
    }

    /** A replay begins the retention anew, unless a tenth of it has not passed yet. */
    Instant retainFor(ClaimRequest replay, Instant now) {
      if (expires.isBefore(now.plus(replay.retention().multipliedBy(9).dividedBy(10)))) {
        expires = now.plus(replay.retention());
      }
      return expires;
    }

    @Override
    public ClaimRequest request() {
      return request;
    }

    @Override
    public int attempt() {
      return attempt;
    }

    @Override
    public UUID operationId() {
      return operationId;
    }

    @Override
    public Instant expires() {
      return expires;
    }

    @Override
    public Optional<StoreTransaction> transaction() {
      return Optional.empty();
    }

    @Override
    public Settled complete(RecordedOutcome outcome) {
      RecordedOutcome kept = sealed(outcome);
      boolean done = change(this, row -> new Row(this, row.leaseEnds, false, Optional.of(kept)));
      return done || isCompleted() ? Settled.DONE : Settled.LOST;
    }

    @Override
    public Settled release() {
      return change(this, row -> null) ? Settled.DONE : Settled.LOST;
    }

    @Override
    public Settled markUnknown() {
      return change(this, row -> new Row(this, row.leaseEnds, true, row.outcome))
          ? Settled.DONE
          : Settled.LOST;
    }

    private RecordedOutcome sealed(RecordedOutcome outcome) {
      if (outcome instanceof RecordedOutcome.Response response) {
        return new RecordedOutcome.Response(request.seal(response.bytes()), response.resourceId());
      }
      return new RecordedOutcome.Failure(request.seal(((RecordedOutcome.Failure) outcome).bytes()));
    }

    private boolean isCompleted() {
      Row row = rows.get(request.key());
      return row != null && row.owner == this && row.outcome.isPresent();
    }
  }
}
