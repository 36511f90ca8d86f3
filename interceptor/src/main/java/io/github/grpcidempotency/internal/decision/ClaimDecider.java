package io.github.grpcidempotency.internal.decision;

import io.github.grpcidempotency.key.Fingerprint;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.spi.ClaimResult;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Function;

/**
 * Decides what to do with a call whose claim was not won, given its result. If the store failed
 * instead, {@link FailureDecider} decides. The first rule that applies decides:
 *
 * <ol>
 *   <li>The key belongs to another procedure or another request, running or ended: refuse as
 *       reused. If the requests cannot be compared, because a newer server made the record: ask the
 *       client to retry, so that it can reach a newer server.
 *   <li>The first call has ended: replay.
 *   <li>The first call's effect is uncertain: refuse as unknown until its lease ends.
 *   <li>The first call is running: wait for it if the procedure lets duplicates wait and the call
 *       has time left; otherwise refuse as in progress.
 * </ol>
 */
public final class ClaimDecider {
  private static final Duration RETRY_DELAY = Duration.ofSeconds(1);

  private ClaimDecider() {}

  /**
   * Returns the decision for a call.
   *
   * @param timeLeft how long the call may still wait: until its deadline or the end of its limit;
   *     empty if it has no deadline and has not waited
   */
  public static Decision decide(
      ClaimResult met,
      Procedure procedure,
      Function<Fingerprint, RequestMatch> comparison,
      Optional<Duration> timeLeft) {
    if (met instanceof ClaimResult.Recorded recorded) {
      return mismatch(
              Optional.of(recorded.procedure()),
              Optional.of(recorded.fingerprint()),
              procedure.name(),
              comparison)
          .orElseGet(() -> new Decision.Replay(recorded));
    }
    ClaimResult.InFlight running = (ClaimResult.InFlight) met;
    return mismatch(running.procedure(), running.fingerprint(), procedure.name(), comparison)
        .orElseGet(() -> onDuplicate(running, procedure.attachLimit(), timeLeft));
  }

  private static Decision onDuplicate(
      ClaimResult.InFlight inFlight, Duration most, Optional<Duration> timeLeft) {
    if (inFlight.outcomeUnknown()) {
      return new Decision.Refuse(
          Refusal.outcomeUnknown(inFlight.leaseLeft()).naming(inFlight.operationId()));
    }
    Duration limit = timeLeft.filter(left -> left.compareTo(most) < 0).orElse(most);
    return !limit.isNegative() && !limit.isZero()
        ? new Decision.Attach(inFlight, limit)
        : new Decision.Refuse(
            Refusal.inProgress(inFlight.leaseLeft()).naming(inFlight.operationId()));
  }

  private static Optional<Decision> mismatch(
      Optional<String> recordedProcedure,
      Optional<Fingerprint> recordedFingerprint,
      String procedure,
      Function<Fingerprint, RequestMatch> comparison) {
    if (recordedProcedure.isPresent() && !recordedProcedure.get().equals(procedure)) {
      return Optional.of(new Decision.Refuse(Refusal.reused("procedure")));
    }
    return recordedFingerprint
        .map(comparison)
        .flatMap(
            match ->
                switch (match) {
                  case SAME -> Optional.empty();
                  case OTHER -> Optional.of(new Decision.Refuse(Refusal.reused("request")));
                  case INCOMPARABLE ->
                      Optional.of(new Decision.Refuse(Refusal.inProgress(RETRY_DELAY)));
                });
  }
}
