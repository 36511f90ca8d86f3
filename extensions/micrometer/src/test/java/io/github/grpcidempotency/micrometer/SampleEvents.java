package io.github.grpcidempotency.micrometer;

import io.github.grpcidempotency.event.Entry;
import io.github.grpcidempotency.event.IdempotencyEvent;
import io.github.grpcidempotency.event.RefusalReason;
import io.github.grpcidempotency.event.Settlement;
import io.github.grpcidempotency.event.UnprotectedCause;
import io.github.grpcidempotency.event.WaitEvent;
import io.github.grpcidempotency.internal.event.CallInfo;
import io.github.grpcidempotency.internal.event.Events;
import io.github.grpcidempotency.internal.event.ProcedureInfo;
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
        Events.keyFound(call, "idempotency-key"),
        Events.keyMissing(call, true),
        Events.keyInvalid(call, "idempotency-key", KeyProblem.TOO_LONG),
        Events.extractionFailed(call, "stripe", KeyProblem.UNAUTHENTICATED),
        Events.claimed(call, OPERATION, 2, Optional.empty(), TOOK),
        Events.replayed(call, OPERATION, false, TOOK, Optional.empty()),
        Events.attached(call),
        Events.waitEnded(call, TOOK, WaitEvent.End.GAVE_UP),
        Events.refused(
            call, RefusalReason.KEY_REUSED, Optional.of("request"), Optional.of(OPERATION)),
        Events.settled(call, OPERATION, Settlement.COMPLETE, TOOK, TOOK),
        Events.settlementFailed(call, OPERATION, Settlement.COMPLETE, Optional.of(outage)),
        Events.unprotected(call, UnprotectedCause.FAILED_OPEN),
        Events.keyFailing(call, OPERATION),
        Events.leaseLost(call, OPERATION),
        Events.recordingDeferred(call, OPERATION, outage),
        Events.recordedLate(call, OPERATION, TOOK),
        Events.recordingAbandoned(call, OPERATION, outage),
        Events.statusUnknown(call, OPERATION),
        Events.retentionFailed(call, OPERATION, outage),
        Events.leasesRenewed(3, 1, TOOK, Optional.empty()),
        Events.renewalFailed(3, outage, Optional.empty()),
        Events.swept(7, TOOK, Optional.of(Duration.ofHours(1)), Optional.empty()),
        Events.sweepFailed(outage, Optional.empty()));
  }
}
