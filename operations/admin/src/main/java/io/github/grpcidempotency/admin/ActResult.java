package io.github.grpcidempotency.admin;

/** What became of an act. */
public enum ActResult {
  /** It is done, and in the audit table. */
  DONE,
  /** It would be done; this was a dry run, and nothing has changed. */
  WOULD_BE_DONE,
  /** There is no such operation. */
  NOT_FOUND,
  /** Its owner lives: its lease has not ended. */
  OWNER_LIVES,
  /** It is recorded already, so there is nothing to free; forget it instead. */
  ALREADY_RECORDED,
  /** It is not recorded yet, so there is nothing to forget; free it instead. */
  NOT_RECORDED,
  /**
   * A transaction has had it locked for two seconds: one that is about to record it, to take it
   * over or to delete it. Look at it again.
   */
  LOCKED;

  /** Returns whether the act was done, or would be. */
  public boolean isSuccess() {
    return this == DONE || this == WOULD_BE_DONE;
  }
}
