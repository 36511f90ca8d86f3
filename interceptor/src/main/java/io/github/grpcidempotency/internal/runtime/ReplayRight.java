package io.github.grpcidempotency.internal.runtime;

import io.github.grpcidempotency.internal.decision.Refusal;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.ReplayGuard;
import io.github.grpcidempotency.store.ClaimResult;
import io.github.grpcidempotency.store.StoreException;
import java.util.Optional;

/** Decides whether the current caller may get a recorded answer. */
final class ReplayRight {
  private ReplayRight() {}

  /**
   * Calls the procedure's guard. If the guard throws, the replay is denied. If the guard throws a
   * {@code StoreException}, the client may retry.
   *
   * @return the refusal; empty if the caller may get the answer
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
