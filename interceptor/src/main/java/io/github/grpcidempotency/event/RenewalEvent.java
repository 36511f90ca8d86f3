package io.github.grpcidempotency.event;

/** A renewal of the leases of a process. */
public interface RenewalEvent extends IdempotencyEvent {
  /** Returns the number of leases that the process held. */
  int held();

  /** Returns how many of them belong to another owner now. */
  int lost();
}
