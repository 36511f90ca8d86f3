package io.github.grpcidempotency.benchmarks.report;

/** Who answers the calls that are measured. */
public enum Kind {
  /** The bare handler, and what is written by hand. */
  REFERENCE,
  /** What bounds the others, and is no create. */
  LIMIT,
  /** This library, with new keys. */
  OURS,
  /** Another library, with new keys. */
  PEER,
  /** Whoever, with keys that have their answers. */
  REPLAY
}
