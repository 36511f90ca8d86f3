package io.github.grpcidempotency.thing;

import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.CompletionWatch;
import io.github.grpcidempotency.spi.IdempotencyStore;
import io.github.grpcidempotency.spi.RecordedProcedure;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;

/** A store that forwards to another one, except for what a test overrides. */
public abstract class ForwardingStore implements IdempotencyStore {
  private final IdempotencyStore store;

  protected ForwardingStore(IdempotencyStore store) {
    this.store = store;
  }

  @Override
  public void verify(Collection<RecordedProcedure> procedures, Optional<String> shard) {
    store.verify(procedures, shard);
  }

  @Override
  public ClaimResult claim(ClaimRequest request) {
    return store.claim(request);
  }

  @Override
  public Optional<ClaimResult> find(IdempotencyKey key, RecordedProcedure procedure) {
    return store.find(key, procedure);
  }

  @Override
  public Instant retain(ClaimRequest request, ClaimResult.Recorded recorded) {
    return store.retain(request, recorded);
  }

  @Override
  public Set<UUID> renew(Collection<Claim> claims) {
    return store.renew(claims.stream().map(ForwardingStore::own).toList());
  }

  private static Claim own(Claim claim) {
    return claim instanceof ForwardingClaim forwarding ? forwarding.forwardedTo() : claim;
  }

  @Override
  public CompletionWatch watch(Consumer<IdempotencyKey> ended) {
    return store.watch(ended);
  }

  @Override
  public Duration lease() {
    return store.lease();
  }
}
