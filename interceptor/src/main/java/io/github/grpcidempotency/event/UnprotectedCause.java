package io.github.grpcidempotency.event;

/** Why a call runs without the protection of the store, although it carries a key. */
public enum UnprotectedCause {
  /**
   * The key's caller is unknown: the call is unauthenticated, or authentication runs after this
   * interceptor.
   */
  NO_CALLER(
      "the call has no authenticated caller; check that authentication runs before the"
          + " idempotency interceptor"),
  /** The store has an outage, and the procedure fails open. */
  FAILED_OPEN("the store has an outage, and the procedure fails open"),
  /**
   * The procedure is transactional, but its handler answered without using the claim's transaction.
   * Writes of the handler outside that transaction are not rolled back with the record.
   */
  TRANSACTION_NOT_TAKEN(
      "the handler did not use the claim's transaction; write through this transaction, on the"
          + " handler's thread, so that the effect and its record are one commit"),
  /**
   * The procedure is transactional, but another transaction ran in addition to the claim's, for
   * example with {@code REQUIRES_NEW}, or the handler used another connection on another thread. If
   * the call fails, the writes of the other transaction remain, and the retry makes them again.
   */
  TRANSACTION_SUSPENDED(
      "the handler also used another transaction, whose writes remain if the call fails; use only"
          + " the claim's transaction"),
  /**
   * Another idempotency interceptor already handles the call. This interceptor does nothing,
   * because it would treat the claim of the other interceptor as a duplicate.
   */
  REGISTERED_TWICE("another idempotency interceptor already handles the call; register only one"),
  /**
   * The method has the option {@code (idempotency.v1.procedure)}, but the interceptor has no
   * descriptor of the method, so the option has no effect. Reported for every call, with or without
   * a key.
   */
  NOT_DESCRIBED(
      "the interceptor has no descriptor of this method, so the method's option"
          + " (idempotency.v1.procedure) has no effect; pass the service to"
          + " Procedures.builder().addAnnotated(…), or the method to Procedure.annotated(…)");

  private final String words;

  UnprotectedCause(String words) {
    this.words = words;
  }

  /** Returns a description of the cause, for logs. */
  public String words() {
    return words;
  }
}
