package io.github.grpcidempotency.opentelemetry;

import io.opentelemetry.api.common.AttributeKey;

/**
 * The names of everything that {@link OpenTelemetryListener} writes.
 *
 * <p>OpenTelemetry has no conventions for idempotency. As its <a
 * href="https://opentelemetry.io/docs/specs/semconv/general/naming/">rules for names</a> require,
 * the names have a prefix of their own, {@code idempotency.}, no name is the prefix of another,
 * words of a value are in lower case, and durations are in seconds. The instrumentation of gRPC
 * sets the attributes that the conventions for RPCs define, such as {@code rpc.method} and the
 * status.
 */
public final class TraceNames {
  // Attributes of the call's span

  /** The procedure's full name. */
  public static final AttributeKey<String> PROCEDURE =
      AttributeKey.stringKey("idempotency.procedure");

  /** How the call arrives: {@code call}, {@code work}, {@code recovery}, {@code operations}. */
  public static final AttributeKey<String> ENTRY = AttributeKey.stringKey("idempotency.entry");

  /** Whether calls of the procedure must carry a key, such as {@code required}. */
  public static final AttributeKey<String> POLICY = AttributeKey.stringKey("idempotency.policy");

  /** The caller's shard, if the store has shards. */
  public static final AttributeKey<String> SHARD = AttributeKey.stringKey("idempotency.shard");

  /** Where the call's key was read from, such as the name of its header. Never contains the key. */
  public static final AttributeKey<String> KEY_SOURCE =
      AttributeKey.stringKey("idempotency.key_source");

  /** How effect and record are committed, such as {@code transactional}. */
  public static final AttributeKey<String> EXECUTION =
      AttributeKey.stringKey("idempotency.execution");

  /**
   * The decision on the call: {@code claimed}, {@code replayed}, {@code refused}, {@code
   * unprotected}, {@code no_key}.
   */
  public static final AttributeKey<String> DECISION =
      AttributeKey.stringKey("idempotency.decision");

  /** The operation's id, which is also in the call's trailers. */
  public static final AttributeKey<String> OPERATION =
      AttributeKey.stringKey("idempotency.operation");

  /** The number of this run of the operation, starting with 1; more than 1 after a takeover. */
  public static final AttributeKey<Long> ATTEMPT = AttributeKey.longKey("idempotency.attempt");

  /** How the claim was settled, such as {@code complete} or {@code release}. */
  public static final AttributeKey<String> SETTLEMENT =
      AttributeKey.stringKey("idempotency.settlement");

  /** Whether the replayed answer is an error. */
  public static final AttributeKey<Boolean> REPLAYED_ERROR =
      AttributeKey.booleanKey("idempotency.replayed_error");

  /** Why the call is refused, as in {@code ErrorInfo.reason}. */
  public static final AttributeKey<String> REFUSAL_REASON =
      AttributeKey.stringKey("idempotency.refusal_reason");

  /** A detail of the reason, such as the difference of a reused key. */
  public static final AttributeKey<String> REFUSAL_DETAIL =
      AttributeKey.stringKey("idempotency.refusal_detail");

  /** Why the key is malformed, such as {@code too_long}. */
  public static final AttributeKey<String> KEY_PROBLEM =
      AttributeKey.stringKey("idempotency.key_problem");

  /** Why the key's source returned no key, such as {@code unauthenticated}. */
  public static final AttributeKey<String> EXTRACTION_FAILURE =
      AttributeKey.stringKey("idempotency.extraction_failure");

  /** Why the call runs without protection, such as {@code failed_open}. */
  public static final AttributeKey<String> UNPROTECTED_CAUSE =
      AttributeKey.stringKey("idempotency.unprotected_cause");

  // Attributes of events, in addition to PROCEDURE and OPERATION

  /** The duration of the claim, in seconds. */
  public static final AttributeKey<Double> CLAIM_DURATION =
      AttributeKey.doubleKey("idempotency.claim_duration");

  /** The duration of the handler, in seconds. */
  public static final AttributeKey<Double> HANDLER_DURATION =
      AttributeKey.doubleKey("idempotency.handler_duration");

  /** The duration of the settlement, in seconds. */
  public static final AttributeKey<Double> SETTLEMENT_DURATION =
      AttributeKey.doubleKey("idempotency.settlement_duration");

  /** The duration of a duplicate's wait, in seconds. */
  public static final AttributeKey<Double> WAIT_DURATION =
      AttributeKey.doubleKey("idempotency.wait_duration");

  /** Why a duplicate stopped waiting, such as {@code answered}. */
  public static final AttributeKey<String> WAIT_END =
      AttributeKey.stringKey("idempotency.wait_end");

  /** The cause of a failure of the store, such as {@code connection_lost}. */
  public static final AttributeKey<String> FAILURE_CAUSE =
      AttributeKey.stringKey("idempotency.failure_cause");

  // Events

  /** A claim was won. Its handler runs, or has already run if it was claimed at its commit. */
  public static final String CLAIMED = "idempotency.claimed";

  /**
   * A recorded outcome is replayed. The span has a link to the span of the run that recorded it.
   */
  public static final String REPLAYED = "idempotency.replayed";

  /** A duplicate begins to wait. */
  public static final String ATTACHED = "idempotency.attached";

  /** A duplicate has stopped waiting. */
  public static final String WAIT_ENDED = "idempotency.wait_ended";

  /** The call is refused. */
  public static final String REFUSED = "idempotency.refused";

  /** The claim was settled. */
  public static final String SETTLED = "idempotency.settled";

  /** The claim could not be settled. */
  public static final String SETTLEMENT_FAILED = "idempotency.settlement_failed";

  /** The call runs, or ran, without protection. */
  public static final String UNPROTECTED = "idempotency.unprotected";

  /** Another call owns the claim. */
  public static final String LEASE_LOST = "idempotency.lease_lost";

  /** The answer could not be recorded, and is retried in the background. */
  public static final String RECORDING_DEFERRED = "idempotency.recording_deferred";

  /** The state of the asynchronous work could not be read for a replay. */
  public static final String STATUS_UNKNOWN = "idempotency.status_unknown";

  /** The retention of a replayed record could not be extended. */
  public static final String RETENTION_FAILED = "idempotency.retention_failed";

  // The listener's own spans, below the span of a call that has ended

  /** From the end of the handler until its answer was recorded late. */
  public static final String RECORD_LATE = "idempotency.record_late";

  /**
   * The recording of an answer was given up, although its effect has happened. The span's status is
   * an error.
   */
  public static final String RECORDING_ABANDONED = "idempotency.recording_abandoned";

  // The attribute of a link

  /** The target of a link: {@code answered_by}, the run that produced the replayed answer. */
  public static final AttributeKey<String> LINK = AttributeKey.stringKey("idempotency.link");

  private TraceNames() {}
}
