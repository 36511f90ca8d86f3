package io.github.grpcidempotency.internal.decision;

import io.github.grpcidempotency.event.RefusalReason;
import io.github.grpcidempotency.key.KeyException;
import io.github.grpcidempotency.key.KeyProblem;
import io.github.grpcidempotency.store.FailureCause;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * Why a call is not served. Reveals nothing about other users, keys or requests.
 *
 * @param metadata further details of the error, for programs
 * @param retryAfter when to retry; empty if a retry is pointless
 * @param explanation further details of the error, for people; empty if the reason is sufficient
 */
public record Refusal(
    RefusalReason reason,
    Map<String, String> metadata,
    Optional<Duration> retryAfter,
    Optional<String> explanation) {

  /** The metadata entry with the cause of an unavailable store. */
  public static final String CAUSE = "cause";

  /** The metadata entry with the id of the operation that has the key, if it is known. */
  public static final String OPERATION = "operation";

  private static final String MISMATCH = "mismatch";

  private static final String PROBLEM = "problem";

  private static final Duration RETRY_DELAY = Duration.ofMillis(500);
  private static final Duration MIN_RETRY_DELAY = Duration.ofMillis(50);

  static Refusal reused(String mismatch) {
    return new Refusal(RefusalReason.KEY_REUSED, Map.of(MISMATCH, mismatch), Optional.empty());
  }

  private Refusal(
      RefusalReason reason, Map<String, String> metadata, Optional<Duration> retryAfter) {
    this(reason, metadata, retryAfter, Optional.empty());
  }

  public static Refusal invalidKey(KeyProblem problem) {
    return invalidKey(problem, problem.explanation());
  }

  public static Refusal invalidKey(KeyException malformed) {
    return invalidKey(malformed.problem(), malformed.explanation());
  }

  private static Refusal invalidKey(KeyProblem problem, String explanation) {
    return new Refusal(
        RefusalReason.KEY_INVALID,
        Map.of(PROBLEM, problem.name().toLowerCase(Locale.ROOT)),
        Optional.empty(),
        Optional.of(explanation));
  }

  static Refusal inProgress(Optional<Duration> leaseLeft) {
    return inProgress(leaseLeft.orElse(RETRY_DELAY));
  }

  /**
   * Returns the refusal of a duplicate. The client may retry soon, at the latest when the lease
   * ends.
   */
  public static Refusal inProgress(Duration leaseLeft) {
    return new Refusal(
        RefusalReason.IN_PROGRESS,
        Map.of(),
        Optional.of(between(MIN_RETRY_DELAY, leaseLeft, RETRY_DELAY)));
  }

  /**
   * Returns the refusal of a duplicate while it is unknown whether the first call had an effect.
   */
  static Refusal outcomeUnknown(Optional<Duration> leaseLeft) {
    Duration known = leaseLeft.orElse(RETRY_DELAY);
    return new Refusal(
        RefusalReason.OUTCOME_UNKNOWN,
        Map.of(),
        Optional.of(known.compareTo(MIN_RETRY_DELAY) < 0 ? MIN_RETRY_DELAY : known));
  }

  /** Returns a detail: what differs for a reused key, or why the store failed. */
  public Optional<String> detail() {
    return Optional.ofNullable(metadata.getOrDefault(MISMATCH, metadata.get(CAUSE)));
  }

  /** Returns the same refusal with the operation that has the key, if it is known. */
  Refusal naming(Optional<UUID> operationId) {
    return operationId
        .map(id -> new Refusal(reason, Map.of(OPERATION, id.toString()), retryAfter))
        .orElse(this);
  }

  public static Refusal storeUnavailable(FailureCause cause) {
    return unavailable(cause.word());
  }

  public static Refusal noShard() {
    return unavailable("no_shard");
  }

  private static Refusal unavailable(String cause) {
    return new Refusal(
        RefusalReason.STORE_UNAVAILABLE, Map.of(CAUSE, cause), Optional.of(Duration.ofSeconds(1)));
  }

  /**
   * Returns the refusal of a call that the server cannot answer before it stops.
   *
   * @param operationId the operation that the call runs or waits for, if it is known
   */
  public static Refusal shuttingDown(Optional<UUID> operationId) {
    return new Refusal(RefusalReason.SHUTTING_DOWN, Map.of(), Optional.of(Duration.ofSeconds(1)))
        .naming(operationId);
  }

  /** Returns the refusal of a call whose retry is pointless. */
  public static Refusal of(RefusalReason reason) {
    return new Refusal(reason, Map.of(), Optional.empty());
  }

  private static Duration between(Duration least, Duration value, Duration most) {
    Duration capped = value.compareTo(most) > 0 ? most : value;
    return capped.compareTo(least) < 0 ? least : capped;
  }
}
