package io.github.grpcidempotency.admin;

/** What a role may be allowed to do by the functions of the schema. */
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

  /** Says that a role lacks it, and what to do about it. */
  String missing(String role, String schema) {
    return "the role %1$s lacks the right to %2$s: let the schema's owner run SELECT %3$s.%4$s('%1$s')"
        .formatted(role, what, schema, grant);
  }
}
