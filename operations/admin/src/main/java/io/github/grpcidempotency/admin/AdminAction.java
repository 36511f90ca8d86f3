package io.github.grpcidempotency.admin;

/** The actions that the console allows or denies to a person. */
public enum AdminAction {
  /** Find and list operations, and read statistics. Shows neither keys nor contents. */
  VIEW,
  /** See the key of a single operation. */
  VIEW_KEY,
  /** Delete a reservation. */
  FREE,
  /** Delete a recorded outcome. */
  FORGET,
  /** Read the actions of operators. */
  AUDIT
}
