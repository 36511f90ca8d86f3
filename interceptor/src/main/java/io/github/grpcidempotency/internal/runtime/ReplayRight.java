package io.github.grpcidempotency.internal.runtime;

import io.github.grpcidempotency.internal.decision.Refusal;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.ReplayGuard;
import io.github.grpcidempotency.store.ClaimResult;
import io.github.grpcidempotency.store.StoreException;
import java.util.Optional;

/** Decides whether the current caller may have a recorded answer. */
final class ReplayRight {
  private ReplayRight() {}

  /**
   * Asks the procedure's guard. If the guard throws, the replay is denied. If it cannot find out
   * for the time being, the client may retry.
   *
   * @return why the answer may not be given; empty if it may
   */
  static Optional<Replay.Refused> refusal(
      Procedure procedure, Caller caller, ClaimResult.Recorded recorded) {
    Optional<ReplayGuard> guard = procedure.replayGuard();
    if (guard.isEmpty()) {
      return Optional.empty();
    }
    try {
      return guard.get().mayReplay(caller, recorded.outcome().resourceId())
          ? Optional.empty()
          : refused(Refusal.replayDenied(), Optional.empty());
    } catch (StoreException unreachable) {
      return refused(
          Refusal.storeUnavailable(unreachable.failureCause()), Optional.of(unreachable));
    } catch (RuntimeException undecided) {
      return refused(Refusal.replayDenied(), Optional.of(undecided));
    }
  }

  private static Optional<Replay.Refused> refused(Refusal refusal, Optional<Exception> why) {
    return Optional.of(new Replay.Refused(refusal, why));
  }
}
