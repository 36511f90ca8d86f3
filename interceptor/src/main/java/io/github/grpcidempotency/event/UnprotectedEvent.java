package io.github.grpcidempotency.event;

/** A call with a key that runs without the protection of the store. */
public interface UnprotectedEvent extends CallEvent {
  UnprotectedCause cause();
}
