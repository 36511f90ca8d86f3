package io.github.grpcidempotency.micrometer;

import io.github.grpcidempotency.event.CallInfo;
import io.github.grpcidempotency.event.Entry;
import io.github.grpcidempotency.event.ExtractionFailure;
import io.github.grpcidempotency.event.IdempotencyEvent;
import io.github.grpcidempotency.event.ProcedureInfo;
import io.github.grpcidempotency.event.RefusalReason;
import io.github.grpcidempotency.event.Settlement;
import io.github.grpcidempotency.event.UnprotectedCause;
import io.github.grpcidempotency.event.WaitEnd;
import io.github.grpcidempotency.key.KeyProblem;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.KeyPolicy;
import io.github.grpcidempotency.store.StoreException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** Events as an interceptor makes them. */
final class SampleEvents {
  static final ProcedureInfo CREATE =
      new ProcedureInfo(
          "shop.v1.Orders/CreateOrder", Entry.CALL, KeyPolicy.REQUIRED, Execution.TRANSACTIONAL);

  private static final UUID OPERATION = UUID.randomUUID();
  private static final Duration TOOK = Duration.ofMillis(250);

  private SampleEvents() {}

  static CallInfo call(ProcedureInfo procedure) {
    return new CallInfo(procedure, Optional.empty(), Optional.empty(), Optional.empty());
  }

  /** Returns one event of each kind. */
  static List<IdempotencyEvent> ofEachKind(CallInfo call) {
    StoreException outage = new StoreException("the store is away", null);
    return List.of(
        new IdempotencyEvent.KeyFound(call, "idempotency-key"),
        new IdempotencyEvent.KeyMissing(call, true),
        new IdempotencyEvent.KeyInvalid(call, "idempotency-key", KeyProblem.TOO_LONG),
        new IdempotencyEvent.ExtractionFailed(call, "stripe", ExtractionFailure.UNAUTHENTICATED),
        new IdempotencyEvent.Claimed(call, OPERATION, 2, Optional.empty(), TOOK),
        new IdempotencyEvent.Replayed(call, OPERATION, false, TOOK, Optional.empty()),
        new IdempotencyEvent.Attached(call),
        new IdempotencyEvent.WaitEnded(call, TOOK, WaitEnd.GAVE_UP),
        new IdempotencyEvent.Refused(
            call,
            RefusalReason.IDEMPOTENCY_KEY_REUSED,
            Optional.of("request"),
            Optional.of(OPERATION)),
        new IdempotencyEvent.ClaimSettled(call, OPERATION, Settlement.COMPLETE, TOOK, TOOK),
        new IdempotencyEvent.SettlementFailed(
            call, OPERATION, Settlement.COMPLETE, Optional.of(outage)),
        new IdempotencyEvent.Unprotected(call, UnprotectedCause.FAILED_OPEN),
        new IdempotencyEvent.LeaseLost(call, OPERATION),
        new IdempotencyEvent.RecordingDeferred(call, OPERATION, outage),
        new IdempotencyEvent.RecordedLate(call, OPERATION, TOOK),
        new IdempotencyEvent.RecordingAbandoned(call, OPERATION, outage),
        new IdempotencyEvent.StatusUnknown(call, OPERATION),
        new IdempotencyEvent.RetentionFailed(call, OPERATION, outage),
        new IdempotencyEvent.LeasesRenewed(3, 1, TOOK, Optional.empty()),
        new IdempotencyEvent.RenewalFailed(3, outage, Optional.empty()),
        new IdempotencyEvent.Swept(7, TOOK, Optional.of(Duration.ofHours(1)), Optional.empty()),
        new IdempotencyEvent.SweepFailed(outage, Optional.empty()));
  }
}
