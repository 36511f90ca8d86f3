package io.github.grpcidempotency.cli;

/** What the exit code says. */
enum ExitCode {
  OK(0, "done"),
  NEGATIVE(1, "what was asked for was not found, or the check found problems"),
  USAGE(2, "the command line is wrong"),
  REFUSED(3, "a guard refused: the owner lives, or there is nothing to free or forget"),
  NO_RIGHT(4, "the database refused the login, or the role lacks the right"),
  UNREACHABLE(5, "the database cannot be reached, or takes no writes"),
  NO_REASON(6, "no reason was given, and nobody could be asked"),
  WRONG_SCHEMA(7, "the schema is not there, not up to date, or made by another tool"),
  FAILED(8, "anything else went wrong");

  private final int code;
  private final String meaning;

  ExitCode(int code, String meaning) {
    this.code = code;
    this.meaning = meaning;
  }

  int code() {
    return code;
  }

  String meaning() {
    return meaning;
  }
}
