package io.github.grpcidempotency.internal.decision;

import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.ClaimResult;
import java.time.Duration;

/** What to do with a call. */
public sealed interface Decision {

  /** Acts on a decision. The compiler checks that every actor handles every kind. */
  interface Actor {
    void execute(Claim claim);

    void replay(ClaimResult.Recorded recorded);

    void attach(ClaimResult.InFlight running, Duration limit);

    void refuse(Refusal refusal);
  }

  void accept(Actor actor);

  /** Run the handler and settle. */
  record Execute(Claim claim) implements Decision {
    @Override
    public void accept(Actor actor) {
      actor.execute(claim);
    }
  }

  /** Answer with the recorded outcome. */
  record Replay(ClaimResult.Recorded recorded) implements Decision {
    @Override
    public void accept(Actor actor) {
      actor.replay(recorded);
    }
  }

  /**
   * Wait for the running call, then decide again.
   *
   * @param limit how long to wait at most, counted from the duplicate's arrival
   */
  record Attach(ClaimResult.InFlight running, Duration limit) implements Decision {
    @Override
    public void accept(Actor actor) {
      actor.attach(running, limit);
    }
  }

  /** Answer with an error. */
  record Refuse(Refusal refusal) implements Decision {
    @Override
    public void accept(Actor actor) {
      actor.refuse(refusal);
    }
  }
}
