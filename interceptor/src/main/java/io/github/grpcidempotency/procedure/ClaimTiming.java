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
   *
   * <p>For handlers that use their connection on the thread that runs them, until they return. A
   * statement of another thread, or of a later time, is refused with an exception and is not sent.
   * A handler that uses an executor, a coroutine or {@code executeAsync} for its statements needs
   * {@link #BEFORE_HANDLER}. An answer may come from any thread; one that is sent before the
   * handler returns is kept until then.
   */
  WITH_FIRST_STATEMENT
}
