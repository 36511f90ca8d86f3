package io.github.grpcidempotency.internal.runtime;

import io.github.grpcidempotency.internal.decision.Refusal;
import io.github.grpcidempotency.internal.log.RateLimitedLog;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.ReplayGuard;
import io.github.grpcidempotency.store.ClaimResult;
import io.github.grpcidempotency.store.StoreException;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Decides whether the current caller may have a recorded answer. */
final class ReplayRight {
  private static final Logger logger = LoggerFactory.getLogger(ReplayGuard.class);
  private static final RateLimitedLog log = RateLimitedLog.of(logger);

  private ReplayRight() {}

  /**
   * Asks the procedure's guard. If the guard throws, the replay is denied. If it cannot find out
   * for the time being, the client may retry.
   *
   * @return why the answer may not be given; empty if it may
   */
  static Optional<Refusal> refusal(
      Procedure procedure, Caller caller, ClaimResult.Recorded recorded) {
    Optional<ReplayGuard> guard = procedure.replayGuard();
    if (guard.isEmpty()) {
      return Optional.empty();
    }
    try {
      return guard.get().mayReplay(caller, recorded.outcome().resourceId())
          ? Optional.empty()
          : Optional.of(Refusal.replayDenied());
    } catch (StoreException unreachable) {
      log.warn(
          procedure.name(), unreachable, procedure.name() + ": the replay guard cannot be asked");
      return Optional.of(Refusal.storeUnavailable());
    } catch (RuntimeException undecided) {
      logger.error("{}: the replay guard failed; not replayed", procedure.name(), undecided);
      return Optional.of(Refusal.replayDenied());
    }
  }
}
