package io.github.grpcidempotency.runtime;

import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.ReplayGuard;
import io.github.grpcidempotency.store.ClaimRequest;
import io.github.grpcidempotency.store.ClaimResult;
import io.github.grpcidempotency.store.RecordedOutcome;
import java.util.Optional;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Whether a recorded answer may be given to whoever asks for it now. */
public final class ReplayRight {
  private static final Logger logger = LoggerFactory.getLogger(ReplayGuard.class);

  private ReplayRight() {}

  /** Asks the procedure's guard. A guard that throws has not allowed it. */
  public static boolean of(ClaimRequest wish, ClaimResult.Recorded recorded) {
    Procedure procedure = wish.procedure();
    Optional<ReplayGuard> guard = procedure.replayGuard();
    if (guard.isEmpty()) {
      return true;
    }
    Optional<UUID> resource =
        recorded.outcome() instanceof RecordedOutcome.Response response
            ? response.resourceId()
            : Optional.empty();
    try {
      return guard.get().mayReplay(wish.key().caller(), resource);
    } catch (RuntimeException undecided) {
      logger.error("{}: the replay guard failed; not replayed", procedure.name(), undecided);
      return false;
    }
  }
}
