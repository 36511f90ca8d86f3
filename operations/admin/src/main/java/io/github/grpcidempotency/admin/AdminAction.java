package io.github.grpcidempotency.admin;

/** What a person may be allowed to do through the admin service or the console. */
public enum AdminAction {
  /** Find and list operations, and read statistics. Shows neither keys nor contents. */
  VIEW,
  /** See the key of an operation that one looks at. */
  VIEW_KEY,
  /** Delete a reservation. */
  FREE,
  /** Delete a recorded outcome. */
  FORGET,
  /** Read a recorded outcome. */
  READ_CONTENTS,
  /** Delete expired records. */
  SWEEP,
  /** Read what operators did. */
  AUDIT
}
