package io.github.grpcidempotency.internal.decision;

import io.github.grpcidempotency.spi.ClaimResult;
import java.time.Duration;

/** What to do with a call whose claim was not won. */
public sealed interface Decision {

  /** Answer with the recorded outcome. */
  record Replay(ClaimResult.Recorded recorded) implements Decision {}

  /**
   * Wait for the running call, then decide again.
   *
   * @param limit how long to wait at most, counted from the duplicate's arrival
   */
  record Attach(ClaimResult.InFlight running, Duration limit) implements Decision {}

  /** Answer with an error. */
  record Refuse(Refusal refusal) implements Decision {}
}
