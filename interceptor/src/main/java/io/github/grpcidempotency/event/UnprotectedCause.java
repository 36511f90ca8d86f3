package io.github.grpcidempotency.event;

/** Why a call that carries a key runs without the protection of the store. */
public enum UnprotectedCause {
  /**
   * Nobody whose key it could be: the call is unauthenticated, or the interceptors stand in the
   * wrong order, and authentication runs after this one.
   */
  NO_CALLER("nobody is known whose key it is; does authentication run before idempotency?"),
  /** The store is out, and the procedure fails open. */
  FAILED_OPEN("its store is out, and it fails open"),
  /**
   * The procedure is transactional, and its handler has answered without ever taking the claim's
   * transaction: what it wrote elsewhere is not undone with the record.
   */
  TRANSACTION_NOT_TAKEN("its handler has not written through the claim's transaction"),
  /**
   * Another idempotency interceptor guards the call already; this one does nothing, for it would
   * only meet the first one's claim.
   */
  REGISTERED_TWICE("an idempotency interceptor guards it already; register one only");

  private final String words;

  UnprotectedCause(String words) {
    this.words = words;
  }

  /** Returns the cause in words, for logs. */
  public String words() {
    return words;
  }
}
