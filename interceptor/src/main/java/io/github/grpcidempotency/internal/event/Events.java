package io.github.grpcidempotency.internal.event;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.event.CallEvent;
import io.github.grpcidempotency.event.ClaimEvent;
import io.github.grpcidempotency.event.Entry;
import io.github.grpcidempotency.event.IdempotencyEvent.Kind;
import io.github.grpcidempotency.event.KeyEvent;
import io.github.grpcidempotency.event.ProcessEvent;
import io.github.grpcidempotency.event.RefusalEvent;
import io.github.grpcidempotency.event.RefusalReason;
import io.github.grpcidempotency.event.ReplayEvent;
import io.github.grpcidempotency.event.Settlement;
import io.github.grpcidempotency.event.SettlementEvent;
import io.github.grpcidempotency.event.UnprotectedCause;
import io.github.grpcidempotency.event.UnprotectedEvent;
import io.github.grpcidempotency.event.WaitEvent;
import io.github.grpcidempotency.key.KeyProblem;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.KeyPolicy;
import io.github.grpcidempotency.store.StoreException;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;

/** Creates events. {@link Kind} describes them. */
public final class Events {
  private Events() {}

  public static KeyEvent keyFound(CallInfo call, String source) {
    return new OfKey(Kind.KEY_FOUND, call, source, Optional.empty());
  }

  public static CallEvent keyMissing(CallInfo call, boolean refused) {
    return new OfCall(refused ? Kind.KEY_REQUIRED : Kind.KEY_MISSING, call, Optional.empty());
  }

  public static KeyEvent keyInvalid(CallInfo call, String source, KeyProblem problem) {
    return new OfKey(Kind.KEY_INVALID, call, source, Optional.of(problem));
  }

  public static KeyEvent extractionFailed(CallInfo call, String source, KeyProblem problem) {
    return new OfKey(Kind.EXTRACTION_FAILED, call, source, Optional.of(problem));
  }

  public static ClaimEvent claimed(
      CallInfo call, UUID operationId, int attempt, Optional<String> takenOverFrom, Duration took) {
    return new OfClaim(Kind.CLAIMED, call, Optional.of(operationId), attempt, takenOverFrom, took);
  }

  public static ReplayEvent replayed(
      CallInfo call, UUID operationId, boolean failure, Duration took, Optional<ByteString> trace) {
    return new OfReplay(Kind.REPLAYED, call, Optional.of(operationId), failure, took, trace);
  }

  public static CallEvent attached(CallInfo call) {
    return new OfCall(Kind.ATTACHED, call, Optional.empty());
  }

  public static WaitEvent waitEnded(CallInfo call, Duration waited, WaitEvent.End end) {
    return new OfWait(Kind.WAIT_ENDED, call, waited, end);
  }

  public static RefusalEvent refused(
      CallInfo call, RefusalReason reason, Optional<String> detail, Optional<UUID> operationId) {
    return new OfRefusal(Kind.REFUSED, call, reason, detail, operationId);
  }

  public static SettlementEvent settled(
      CallInfo call, UUID operationId, Settlement settlement, Duration handler, Duration took) {
    return new OfSettlement(
        Kind.SETTLED, call, Optional.of(operationId), settlement, handler, took, Optional.empty());
  }

  public static SettlementEvent settlementFailed(
      CallInfo call, UUID operationId, Settlement settlement, Optional<StoreException> cause) {
    return new OfSettlement(
        Kind.SETTLEMENT_FAILED,
        call,
        Optional.of(operationId),
        settlement,
        Duration.ZERO,
        Duration.ZERO,
        cause.map(failure -> failure));
  }

  public static UnprotectedEvent unprotected(CallInfo call, UnprotectedCause cause) {
    return new OfUnprotected(Kind.UNPROTECTED, call, cause);
  }

  public static CallEvent keyFailing(CallInfo call, UUID operationId) {
    return new OfCall(Kind.KEY_FAILING, call, Optional.of(operationId));
  }

  public static CallEvent leaseLost(CallInfo call, UUID operationId) {
    return new OfCall(Kind.LEASE_LOST, call, Optional.of(operationId));
  }

  public static CallEvent recordingDeferred(CallInfo call, UUID operationId, StoreException cause) {
    return failed(Kind.RECORDING_DEFERRED, call, operationId, cause);
  }

  public static CallEvent recordedLate(CallInfo call, UUID operationId, Duration late) {
    return new OfCall(Kind.RECORDED_LATE, call, Optional.of(operationId), late, Optional.empty());
  }

  public static CallEvent recordingAbandoned(
      CallInfo call, UUID operationId, StoreException cause) {
    return failed(Kind.RECORDING_ABANDONED, call, operationId, cause);
  }

  public static CallEvent statusUnknown(CallInfo call, UUID operationId) {
    return new OfCall(Kind.STATUS_UNKNOWN, call, Optional.of(operationId));
  }

  public static CallEvent retentionFailed(CallInfo call, UUID operationId, Throwable cause) {
    return failed(Kind.RETENTION_FAILED, call, operationId, cause);
  }

  public static ProcessEvent leasesRenewed(
      int held, int lost, Duration took, Optional<String> shard) {
    return new OfProcess(
        Kind.LEASES_RENEWED, held, lost, took, Optional.empty(), Optional.empty(), shard);
  }

  public static ProcessEvent renewalFailed(int held, Throwable cause, Optional<String> shard) {
    return failed(Kind.RENEWAL_FAILED, held, cause, shard);
  }

  public static ProcessEvent swept(
      long records, Duration took, Optional<Duration> lag, Optional<String> shard) {
    return new OfProcess(Kind.SWEPT, records, 0, took, lag, Optional.empty(), shard);
  }

  public static ProcessEvent sweepFailed(Throwable cause, Optional<String> shard) {
    return failed(Kind.SWEEP_FAILED, 0, cause, shard);
  }

  private static ProcessEvent failed(
      Kind kind, long records, Throwable cause, Optional<String> shard) {
    return new OfProcess(
        kind, records, 0, Duration.ZERO, Optional.empty(), Optional.of(cause), shard);
  }

  private static CallEvent failed(Kind kind, CallInfo call, UUID operationId, Throwable thrown) {
    return new OfCall(kind, call, Optional.of(operationId), Duration.ZERO, Optional.of(thrown));
  }

  /** An event that has the facts of its call. */
  private interface OfCallInfo extends CallEvent {
    CallInfo call();

    @Override
    default String procedure() {
      return call().procedure().name();
    }

    @Override
    default Entry entry() {
      return call().procedure().entry();
    }

    @Override
    default KeyPolicy keyPolicy() {
      return call().procedure().keyPolicy();
    }

    @Override
    default Execution execution() {
      return call().procedure().execution();
    }

    @Override
    default Optional<String> tenant() {
      return call().tenant();
    }

    @Override
    default Optional<String> project() {
      return call().project();
    }

    @Override
    default Optional<String> shard() {
      return call().shard();
    }
  }

  private record OfCall(
      Kind kind,
      CallInfo call,
      Optional<UUID> operationId,
      Duration took,
      Optional<Throwable> thrown)
      implements OfCallInfo {
    OfCall(Kind kind, CallInfo call, Optional<UUID> operationId) {
      this(kind, call, operationId, Duration.ZERO, Optional.empty());
    }
  }

  private record OfKey(Kind kind, CallInfo call, String source, Optional<KeyProblem> problem)
      implements OfCallInfo, KeyEvent {}

  private record OfClaim(
      Kind kind,
      CallInfo call,
      Optional<UUID> operationId,
      int attempt,
      Optional<String> takenOverFrom,
      Duration took)
      implements OfCallInfo, ClaimEvent {}

  private record OfReplay(
      Kind kind,
      CallInfo call,
      Optional<UUID> operationId,
      boolean failure,
      Duration took,
      Optional<ByteString> trace)
      implements OfCallInfo, ReplayEvent {}

  private record OfWait(Kind kind, CallInfo call, Duration took, WaitEvent.End end)
      implements OfCallInfo, WaitEvent {}

  private record OfRefusal(
      Kind kind,
      CallInfo call,
      RefusalReason reason,
      Optional<String> detail,
      Optional<UUID> operationId)
      implements OfCallInfo, RefusalEvent {}

  private record OfSettlement(
      Kind kind,
      CallInfo call,
      Optional<UUID> operationId,
      Settlement settlement,
      Duration handler,
      Duration took,
      Optional<Throwable> thrown)
      implements OfCallInfo, SettlementEvent {}

  private record OfUnprotected(Kind kind, CallInfo call, UnprotectedCause cause)
      implements OfCallInfo, UnprotectedEvent {}

  private record OfProcess(
      Kind kind,
      long records,
      int lost,
      Duration took,
      Optional<Duration> lag,
      Optional<Throwable> thrown,
      Optional<String> shard)
      implements ProcessEvent {}
}
