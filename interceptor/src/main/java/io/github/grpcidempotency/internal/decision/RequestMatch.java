package io.github.grpcidempotency.internal.decision;

/** The result of comparing a request with a recorded one. */
public enum RequestMatch {
  /** The requests are equal. */
  SAME,
  /** The requests differ. */
  OTHER,
  /** The record was made under newer rules that this server does not know. */
  INCOMPARABLE
}
