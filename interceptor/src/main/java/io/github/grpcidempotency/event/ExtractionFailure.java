package io.github.grpcidempotency.event;

/** Why a key's source could not give a key. */
public enum ExtractionFailure {
  /** The sender cannot prove that the key is theirs, for example because its signature is wrong. */
  UNAUTHENTICATED,
  /** The source could not read the data that it needs. */
  UNAVAILABLE,
  /** The source, or the caller resolver, threw an unexpected exception. */
  DEFECT
}
