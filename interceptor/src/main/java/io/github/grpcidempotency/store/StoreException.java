package io.github.grpcidempotency.store;

import org.jspecify.annotations.Nullable;

/**
 * A store could not do what it was asked to. Nothing is known of whether it was done: the answer
 * may have been lost after the deed.
 */
public final class StoreException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final boolean holderKnown;

  /** Makes the failure of an operation that learned nothing of other holders. */
  public StoreException(String message, Throwable cause) {
    this(message, cause, false);
  }

  /**
   * Makes a failure.
   *
   * @param holderKnown whether the store had seen another holder of the key before it failed
   */
  public StoreException(String message, @Nullable Throwable cause, boolean holderKnown) {
    super(message, cause);
    this.holderKnown = holderKnown;
  }

  /** Returns whether the store had seen another holder of the key before it failed. */
  public boolean holderKnown() {
    return holderKnown;
  }
}
