package io.github.grpcidempotency.spi;

/** How a store handles the failure of a claim before it reports the failure to the caller. */
public enum FailureRemedy {
  /** Try again a few times, because nothing was done. */
  TRY_AGAIN,
  /** Send the claim once more. If the first claim was done, the second finds it. */
  SEND_AGAIN,
  /** Read the record of the key, without writing. */
  FIND,
  /** Report the failure. */
  GIVE_UP
}
