package io.github.grpcidempotency.procedure;

/** When the key of a {@link Execution#TRANSACTIONAL} call is claimed. */
public enum ClaimTiming {
  /**
   * Before the handler runs, in a round trip of its own. A duplicate never starts a handler. The
   * default.
   */
  BEFORE_HANDLER,

  /**
   * Together with the handler's first statement, so that the claim costs no round trip. What the
   * handler does before that statement also happens for duplicates, and again if the handler has to
   * be started anew; so it must change nothing. The handler of a duplicate is stopped at its first
   * statement, which does not run, and whatever it answers is dropped. A call that says that it is
   * a retry is claimed before its handler all the same.
   */
  WITH_FIRST_STATEMENT
}
