package io.github.grpcidempotency.decision;

import io.github.grpcidempotency.key.Fingerprint;
import java.time.Duration;
import java.util.Optional;

/** What a claim met under its key. */
public sealed interface KeyState {
  /** Nothing, or something that may be taken over: the claim won. */
  record Free() implements KeyState {}

  /**
   * A call that has not ended yet.
   *
   * @param fingerprint its request, where the store can see it
   * @param procedure its procedure's name, where the store can see it
   * @param leaseLeft how long it keeps the key if its server says nothing more
   * @param outcomeUnknown whether its handler has ended without anybody knowing whether its effect
   *     happened
   */
  record InFlight(
      Optional<Fingerprint> fingerprint,
      Optional<String> procedure,
      Duration leaseLeft,
      boolean outcomeUnknown)
      implements KeyState {}

  /**
   * A call that has ended with an outcome to replay.
   *
   * @param fingerprint its request
   * @param procedure its procedure's name
   */
  record Recorded(Fingerprint fingerprint, String procedure) implements KeyState {}

  /**
   * Not known: the store failed.
   *
   * @param phase how far the claim had come
   * @param cause why
   */
  record Unanswered(FailurePhase phase, FailureCause cause) implements KeyState {}
}
