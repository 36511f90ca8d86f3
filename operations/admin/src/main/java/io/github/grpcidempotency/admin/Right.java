package io.github.grpcidempotency.admin;

/** The rights that the schema's functions give to a role. */
enum Right {
  OPERATE("work as an operator", "grant_operator_to"),
  READ_CONTENTS("read recorded answers", "grant_contents_to");

  private final String what;
  private final String grant;

  Right(String what, String grant) {
    this.what = what;
    this.grant = grant;
  }

  String what() {
    return what;
  }

  /** Returns the name of the function that grants the right. */
  String grant() {
    return grant;
  }

  /** Returns the message that a role lacks the right, with the remedy. */
  String missing(String role, String schema, String owner) {
    return "the role %1$s lacks the right to %2$s: call SELECT %3$s.%4$s('%1$s') as %5$s"
        .formatted(role, what, schema, grant, owner);
  }
}
