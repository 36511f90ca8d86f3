package io.github.grpcidempotency.internal.settling;

import static io.github.grpcidempotency.spi.FailurePhase.HANDLER_DONE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import com.google.rpc.Code;
import io.github.grpcidempotency.event.CallEvent;
import io.github.grpcidempotency.event.Entry;
import io.github.grpcidempotency.event.IdempotencyEvent;
import io.github.grpcidempotency.internal.decision.HandlerError;
import io.github.grpcidempotency.internal.event.CallEvents;
import io.github.grpcidempotency.internal.event.DecisionLog;
import io.github.grpcidempotency.internal.event.Listeners;
import io.github.grpcidempotency.internal.event.ProcedureInfo;
import io.github.grpcidempotency.internal.record.KeyedRequest;
import io.github.grpcidempotency.internal.settling.LateSettler.Limits;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.procedure.FailurePolicy;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.RecordedOutcome;
import io.github.grpcidempotency.store.FailureCause;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.testing.InMemoryIdempotencyStore;
import io.github.grpcidempotency.testing.v1.CreateThingRequest;
import io.github.grpcidempotency.testing.v1.ThingServiceGrpc;
import io.github.grpcidempotency.thing.ForwardingClaim;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * An answer that cannot be recorded is tried again, and not for ever. So is the release of a key
 * whose handler has failed with its database.
 */
class LateSettlerTest {
  private static final Duration LONG = Duration.ofMinutes(5);
  private static final RecordedOutcome ANSWER =
      new RecordedOutcome.Response(
          ByteString.copyFromUtf8("a hundred bytes, or so"), Optional.empty());

  private final InMemoryIdempotencyStore store = new InMemoryIdempotencyStore();
  private final List<String> events = new CopyOnWriteArrayList<>();
  private final Listeners listeners = new Listeners(List.of(this::note));
  private final LeaseKeeper leases = new LeaseKeeper(store, listeners, Optional.empty());

  private volatile Optional<FailureCause> outage = Optional.of(FailureCause.NO_CONNECTION);
  private final AtomicInteger attempts = new AtomicInteger();

  /** Until an operator frees the disk, or grants the right. */
  @ParameterizedTest
  @EnumSource
  void anAnswerIsKeptUntilItsTimeIsOverWhateverTheCause(FailureCause cause) {
    outage = Optional.of(cause);
    HurriedTimer timer = new HurriedTimer();
    try (LateSettler recorder = new LateSettler(new Limits(10, 1_000, LONG), timer)) {
      Claim claim = record(recorder);
      await().until(() -> attempts.get() > 100);

      assertThat(events).containsExactly(deferred(claim));
      assertThat(leases.inFlight(claim.request().key())).isPresent();

      outage = Optional.empty();
      await().until(() -> events.contains("late " + claim.operationId()));
      assertThat(stands(claim)).isInstanceOf(ClaimResult.Recorded.class);
      assertThat(leases.inFlight(claim.request().key())).isEmpty();
    }
  }

  @Test
  void anAnswerIsKeptForAsLongAsACallMayRunButForAnHourAtLeast() {
    Duration hour = Limits.DEFAULT.time();

    assertThat(Limits.DEFAULT.atLeast(Duration.ofSeconds(5)).time()).isEqualTo(hour);
    assertThat(Limits.DEFAULT.atLeast(hour.multipliedBy(6)).time()).isEqualTo(hour.multipliedBy(6));
  }

  @Test
  void aFailureThatPassesIsGivenUpOnceItsTimeIsOver() {
    try (LateSettler recorder = recorder(new Limits(10, 1_000, Duration.ofMillis(200)))) {
      Claim claim = record(recorder);

      await().until(() -> events.contains("abandoned " + claim.operationId()));

      assertThat(attempts).hasValueGreaterThan(1);
      assertIsUnknown(claim);
    }
  }

  @Test
  void anAnswerIsNotTriedLongerThanItWouldBeKept() {
    try (LateSettler recorder = recorder(new Limits(10, 1_000, LONG))) {
      Claim claim = record(recorder, Duration.ofMillis(200));

      await().until(() -> events.contains("abandoned " + claim.operationId()));
    }
  }

  @Test
  void moreAnswersThanMayWaitAreGivenUpAndTheirKeysKept() {
    try (LateSettler recorder = recorder(new Limits(1, 1_000, LONG))) {
      Claim first = record(recorder);
      Claim second = record(recorder);

      assertThat(events).containsExactly(deferred(first), abandoned(second));
      assertThat(leases.inFlight(first.request().key())).isPresent();
      assertThat(leases.inFlight(second.request().key())).isEmpty();
      assertThat(stands(second)).isInstanceOf(ClaimResult.InFlight.class);

      outage = Optional.empty();
      await().until(() -> events.contains("late " + first.operationId()));
      outage = Optional.of(FailureCause.NO_CONNECTION);
      Claim third = record(recorder);
      assertThat(events).contains(deferred(third));
    }
  }

  @Test
  void largerAnswersThanMayWaitAreGivenUp() {
    int size = ((RecordedOutcome.Response) ANSWER).bytes().size();
    try (LateSettler recorder = recorder(new Limits(10, 2L * size, LONG))) {
      Claim first = record(recorder);
      Claim second = record(recorder);
      Claim third = record(recorder);

      assertThat(events).containsExactly(deferred(first), deferred(second), abandoned(third));
    }
  }

  @Test
  void whatIsNotRecordedAtTheEndIsGivenUp() {
    LateSettler recorder = recorder(new Limits(10, 1_000, LONG));
    Claim claim = record(recorder);

    recorder.close();
    recorder.close();
    Claim late = record(recorder);

    assertThat(events).containsExactly(deferred(claim), abandoned(claim), abandoned(late));
    assertThat(leases.inFlight(claim.request().key())).isEmpty();
  }

  @Test
  void aKeyWhoseOutcomeIsUnknownIsLeftToItsLease() {
    try (LateSettler settler = new LateSettler(LONG)) {
      Claim unknown = fail(settler, Code.UNKNOWN);
      Claim released = fail(settler, Code.UNAVAILABLE);
      outage = Optional.empty();

      await().until(() -> stands(released) instanceof ClaimResult.Won);

      assertThat(stands(unknown)).isInstanceOf(ClaimResult.InFlight.class);
    }
  }

  @Test
  void anAnswerWhoseNextAttemptCannotBeScheduledIsGivenUp() {
    ForgetfulTimer timer = new ForgetfulTimer();
    try (LateSettler recorder = new LateSettler(new Limits(10, 1_000, LONG), timer)) {
      timer.failAfter(1);
      Claim claim = record(recorder);

      await().until(() -> events.contains(abandoned(claim)));

      assertThat(recorder.count()).isZero();
      assertThat(leases.inFlight(claim.request().key())).isEmpty();
      timer.failAfter(Integer.MAX_VALUE);
    }
  }

  @Test
  void releasesThatCannotBeScheduledLeaveRoomForOthers() {
    ForgetfulTimer timer = new ForgetfulTimer();
    try (LateSettler settler = new LateSettler(Limits.DEFAULT, timer)) {
      timer.failAfter(0);
      for (int i = 0; i < 1_000; i++) {
        assertThatExceptionOfType(InternalError.class)
            .isThrownBy(() -> fail(settler, Code.UNAVAILABLE));
      }
      timer.failAfter(Integer.MAX_VALUE);
      Claim released = fail(settler, Code.UNAVAILABLE);
      outage = Optional.empty();

      await().until(() -> stands(released) instanceof ClaimResult.Won);
    }
  }

  /** A timer that waits for a thousandth of each delay. */
  private static final class HurriedTimer extends ScheduledThreadPoolExecutor {
    HurriedTimer() {
      super(1);
    }

    @Override
    public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
      return super.schedule(task, unit.toNanos(delay) / 1_000, TimeUnit.NANOSECONDS);
    }
  }

  /** A timer that schedules some tasks, and has no memory for others. */
  private static final class ForgetfulTimer extends ScheduledThreadPoolExecutor {
    private final AtomicInteger left = new AtomicInteger();

    ForgetfulTimer() {
      super(1);
    }

    void failAfter(int tasks) {
      left.set(tasks);
    }

    @Override
    public ScheduledFuture<?> schedule(Runnable task, long delay, TimeUnit unit) {
      if (left.getAndDecrement() <= 0) {
        throw new InternalError("no memory for a task");
      }
      return super.schedule(task, delay, unit);
    }
  }

  /** Claims a key, and lets its handler fail during the outage. */
  private Claim fail(LateSettler settler, Code code) {
    OwnedClaim operation = claim(Duration.ofDays(1), true);
    assertThat(
            new Settler(settler)
                .fail(
                    operation,
                    new HandlerError(code, false),
                    () -> {
                      throw new AssertionError("no failure is recorded");
                    }))
        .isEqualTo(Claim.Settled.DONE);
    return operation.claim();
  }

  private LateSettler recorder(Limits limits) {
    return new LateSettler(limits);
  }

  /** Claims a key whose answer could not be recorded. */
  private Claim record(LateSettler recorder) {
    return record(recorder, Duration.ofDays(1));
  }

  private Claim record(LateSettler recorder, Duration retention) {
    OwnedClaim operation = claim(retention, false);
    recorder.record(operation, ANSWER, failure());
    return operation.claim();
  }

  private OwnedClaim claim(Duration retention, boolean mayBeReleased) {
    KeyedRequest request =
        KeyedRequest.of(
            new IdempotencyKey(Caller.of(UUID.randomUUID()), "key"),
            Procedure.of(ThingServiceGrpc.getCreateOtherMethod())
                .retention(retention)
                .failures(FailurePolicy.releaseAll().withUnknown(Code.UNKNOWN))
                .build(),
            CreateThingRequest.getDefaultInstance(),
            Optional.empty(),
            false);
    Claim claim =
        new UnsettleableClaim(
            ((ClaimResult.Won) store.claim(request.claimRequest())).claim(), mayBeReleased);
    CallEvents events =
        CallEvents.capture(
            listeners,
            new DecisionLog(Optional.empty()),
            ProcedureInfo.of(request.procedure(), Entry.CALL));
    OwnedClaim operation = new OwnedClaim(leases, request, claim, events, System.nanoTime());
    operation.renew();
    return operation;
  }

  private ClaimResult stands(Claim claim) {
    return store.claim(claim.request());
  }

  private void assertIsUnknown(Claim claim) {
    assertThat(leases.inFlight(claim.request().key())).isEmpty();
    assertThat(stands(claim))
        .isInstanceOfSatisfying(
            ClaimResult.InFlight.class, inFlight -> assertThat(inFlight.outcomeUnknown()).isTrue());
  }

  private StoreException failure() {
    return StoreException.of(HANDLER_DONE, outage.orElseThrow(), "cut off");
  }

  private void note(IdempotencyEvent event) {
    if (event instanceof CallEvent ofCall) {
      ofCall
          .operationId()
          .ifPresent(
              id -> {
                switch (event.kind()) {
                  case RECORDING_DEFERRED -> events.add("deferred " + id);
                  case RECORDED_LATE -> events.add("late " + id);
                  case RECORDING_ABANDONED -> events.add("abandoned " + id);
                  default -> {}
                }
              });
    }
  }

  private static String deferred(Claim claim) {
    return "deferred " + claim.operationId();
  }

  private static String abandoned(Claim claim) {
    return "abandoned " + claim.operationId();
  }

  /** A claim that cannot be settled during an outage. */
  private final class UnsettleableClaim extends ForwardingClaim {
    private final boolean mayBeReleased;

    UnsettleableClaim(Claim claim, boolean mayBeReleased) {
      super(claim);
      this.mayBeReleased = mayBeReleased;
    }

    @Override
    public Settled complete(RecordedOutcome outcome) {
      failDuringTheOutage();
      return super.complete(outcome);
    }

    @Override
    public Settled release() {
      assertThat(mayBeReleased).as("an answer that is to be recorded is never released").isTrue();
      failDuringTheOutage();
      return super.release();
    }

    @Override
    public Settled markUnknown() {
      if (mayBeReleased) {
        failDuringTheOutage();
      }
      return super.markUnknown();
    }

    private void failDuringTheOutage() {
      if (outage.isPresent()) {
        attempts.incrementAndGet();
        throw failure();
      }
    }
  }
}
