package io.github.grpcidempotency.event;

/** Why a key's source could not give a key. */
public enum ExtractionFailure {
  /** The sender cannot prove that the key is theirs, such as with a signature that is wrong. */
  UNAUTHENTICATED,
  /** What the source needs to look up could not be read. */
  UNAVAILABLE,
  /** The source, or the resolver of callers, threw something that it should not throw. */
  DEFECT
}
