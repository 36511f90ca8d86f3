package io.github.grpcidempotency.internal.runtime;

import static io.github.grpcidempotency.store.FailurePhase.HANDLER_DONE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.rpc.Code;
import io.github.grpcidempotency.event.Entry;
import io.github.grpcidempotency.internal.decision.HandlerError;
import io.github.grpcidempotency.internal.event.CallEvents;
import io.github.grpcidempotency.internal.event.DecisionLog;
import io.github.grpcidempotency.internal.event.Listeners;
import io.github.grpcidempotency.internal.record.KeyedRequest;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.procedure.FailurePolicy;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.ClaimResult;
import io.github.grpcidempotency.store.FailureCause;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.testing.InMemoryIdempotencyStore;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.ThingServiceGrpc;
import io.github.grpcidempotency.thing.ForwardingClaim;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A handler that fails with its database leaves a key that is free once the database is back. */
class LateReleaserTest {
  private final InMemoryIdempotencyStore store = new InMemoryIdempotencyStore();
  private final Listeners listeners = new Listeners(List.of());
  private final LeaseKeeper leases = new LeaseKeeper(store, listeners, Optional.empty());
  private final LateSettler recorder = new LateSettler(leases);
  private final Settler settler = new Settler(leases, recorder);
  private final AtomicInteger attempts = new AtomicInteger();
  private volatile boolean out = true;

  @AfterEach
  void stop() {
    recorder.close();
    leases.close();
  }

  @Test
  void aKeyIsFreeBeforeItsLeaseEndsOnceTheStoreIsBack() {
    Claim claim = fail(Code.UNAVAILABLE);
    await().until(() -> attempts.get() > 3);
    assertThat(stands(claim)).isInstanceOf(ClaimResult.InFlight.class);

    out = false;

    await().until(() -> stands(claim) instanceof ClaimResult.Won);
  }

  @Test
  void aKeyWhoseOutcomeIsUnknownIsLeftToItsLease() {
    Claim unknown = fail(Code.UNKNOWN);
    Claim released = fail(Code.UNAVAILABLE);
    out = false;

    await().until(() -> stands(released) instanceof ClaimResult.Won);

    assertThat(stands(unknown)).isInstanceOf(ClaimResult.InFlight.class);
  }

  /** Claims a key, and lets its handler fail while the store is out. */
  private Claim fail(Code code) {
    KeyedRequest request =
        KeyedRequest.of(
            new IdempotencyKey(Caller.of(UUID.randomUUID()), "key"),
            Procedure.of(ThingServiceGrpc.getCreateOtherMethod())
                .failures(FailurePolicy.releaseAll().withUnknown(Code.UNKNOWN))
                .build(),
            CreateThingRequest.getDefaultInstance());
    Claim claim = new Unsettleable(((ClaimResult.Won) store.claim(request.claim())).claim());
    CallEvents events =
        CallEvents.capture(
            listeners,
            new DecisionLog(Optional.empty()),
            Engines.describe(request.procedure(), Entry.CALL));
    Operation operation = new Operation(request, claim, events);
    leases.track(operation);
    assertThat(
            settler.fail(
                operation,
                new HandlerError(code, false),
                () -> {
                  throw new AssertionError("no failure is recorded");
                }))
        .isEqualTo(Claim.Settled.DONE);
    return claim;
  }

  private ClaimResult stands(Claim claim) {
    return store.claim(claim.request());
  }

  /** A claim that cannot be settled while the store is out. */
  private final class Unsettleable extends ForwardingClaim {
    Unsettleable(Claim claim) {
      super(claim);
    }

    @Override
    public Settled release() {
      check();
      return super.release();
    }

    @Override
    public Settled markUnknown() {
      check();
      return super.markUnknown();
    }

    private void check() {
      if (out) {
        attempts.incrementAndGet();
        throw new StoreException("cut off", null, HANDLER_DONE, FailureCause.NO_CONNECTION);
      }
    }
  }
}
