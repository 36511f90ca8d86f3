package io.github.grpcidempotency.event;

import java.util.Optional;

/** A claim that was won. */
public interface ClaimEvent extends CallEvent {
  /**
   * Returns the number of this run of the operation, from 1. A later run has taken over from a run
   * whose lease ended.
   */
  int attempt();

  /** Returns the server of that run, if the store keeps the names of servers. */
  Optional<String> takenOverFrom();
}
