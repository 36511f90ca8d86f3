package io.github.grpcidempotency.event;

import java.time.Duration;

/** A settlement that is done, or has failed. */
public interface SettlementEvent extends CallEvent {
  Settlement settlement();

  /** Returns how long the handler ran; zero if the settlement has failed. */
  Duration handler();
}
