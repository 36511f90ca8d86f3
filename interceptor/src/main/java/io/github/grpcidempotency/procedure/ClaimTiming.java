package io.github.grpcidempotency.procedure;

/** When the key of a {@link Execution#TRANSACTIONAL} call is claimed. */
public enum ClaimTiming {
  /**
   * Before the handler runs, in a separate round trip. A duplicate never starts a handler. The
   * default.
   */
  BEFORE_HANDLER,

  /**
   * Together with the handler's first statement, so that the claim needs no round trip. The code of
   * the handler before that statement also runs for duplicates, and a second time if the handler
   * has to be restarted, so it must change nothing. The handler of a duplicate is stopped at its
   * first statement, which does not run, and its answer is dropped. A call that is marked as a
   * retry is always claimed before its handler.
   *
   * <p>For handlers that use their connection only on the thread that runs them, and only until
   * they return. A statement on another thread, or after the handler has returned, is refused with
   * an exception and is not sent. A handler that uses an executor, a coroutine or {@code
   * executeAsync} for its statements needs {@link #BEFORE_HANDLER}. The handler may answer on any
   * thread. An answer that is sent before the handler returns is kept until then.
   */
  WITH_FIRST_STATEMENT
}
