package io.github.grpcidempotency.benchmarks.scenario;

import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.ClaimRequest;
import io.github.grpcidempotency.store.ClaimResult;
import io.github.grpcidempotency.store.CompletionWatch;
import io.github.grpcidempotency.store.IdempotencyStore;
import io.github.grpcidempotency.store.RecordedOutcome;
import io.github.grpcidempotency.store.RecordedProcedure;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * A store in memory that grants every claim and records nothing, so that a call measures the
 * interceptor and not a growing map.
 */
final class GenerousStore implements IdempotencyStore {
  private static final UUID ID = new UUID(1, 2);
  private static final Instant EXPIRES = Instant.parse("2030-01-01T00:00:00Z");

  private record GivenAway(ClaimRequest request) implements Claim {
    @Override
    public int attempt() {
      return 1;
    }

    @Override
    public UUID operationId() {
      return ID;
    }

    @Override
    public Instant expires() {
      return EXPIRES;
    }

    @Override
    public Settled complete(RecordedOutcome outcome) {
      return Settled.DONE;
    }

    @Override
    public Settled release() {
      return Settled.DONE;
    }

    @Override
    public Settled markUnknown() {
      return Settled.DONE;
    }
  }

  private enum NothingToSee implements CompletionWatch {
    INSTANCE;

    @Override
    public void add(IdempotencyKey key) {}

    @Override
    public void remove(IdempotencyKey key) {}

    @Override
    public void close() {}
  }

  @Override
  public void verify(Collection<RecordedProcedure> procedures) {}

  @Override
  public ClaimResult claim(ClaimRequest request) {
    return new ClaimResult.Won(new GivenAway(request));
  }

  @Override
  public Optional<ClaimResult> find(IdempotencyKey key, RecordedProcedure procedure) {
    return Optional.empty();
  }

  @Override
  public Instant retain(ClaimRequest request, ClaimResult.Recorded recorded) {
    return recorded.expires();
  }

  @Override
  public Set<UUID> renew(Collection<Claim> claims) {
    return claims.stream().map(Claim::operationId).collect(Collectors.toSet());
  }

  @Override
  public CompletionWatch watch(Consumer<IdempotencyKey> ended) {
    return NothingToSee.INSTANCE;
  }

  @Override
  public Duration lease() {
    return Duration.ofSeconds(30);
  }
}
