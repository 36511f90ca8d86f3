package io.github.grpcidempotency.admin;

/** The result of freeing or forgetting an operation. */
public enum ActResult {
  /** The action was done, and is in the audit table. */
  DONE,
  /** The action would be done. This was a dry run, so nothing has changed. */
  WOULD_BE_DONE,
  /** There is no such operation. */
  NOT_FOUND,
  /** The operation's lease has not ended, so its handler may still be running. */
  OWNER_LIVES,
  /**
   * The operation's outcome is recorded already, so there is nothing to free; forget it instead.
   */
  ALREADY_RECORDED,
  /**
   * The operation's outcome is not recorded yet, so there is nothing to forget; free it instead.
   */
  NOT_RECORDED,
  /**
   * A transaction has locked the operation for two seconds, because it is about to record it, to
   * take it over or to delete it. Read the operation again.
   */
  LOCKED;

  /** Returns whether the action was done, or would be done. */
  public boolean isSuccess() {
    return this == DONE || this == WOULD_BE_DONE;
  }
}
