package io.github.grpcidempotency.cli;

/** The exit codes of the program. */
enum ExitCode {
  OK(0, "done"),
  NEGATIVE(1, "no operation has the key, there is nothing to erase, or the check found problems"),
  USAGE(2, "the command line is wrong"),
  REFUSED(
      3,
      "the action was refused: the lease has not ended, or there is nothing to free or"
          + " forget"),
  NO_RIGHT(4, "the database refused the login, or the role lacks the right"),
  UNREACHABLE(5, "the database cannot be reached, or accepts no writes"),
  NO_REASON(6, "no reason was given, and there is no terminal to prompt for it"),
  WRONG_SCHEMA(7, "the schema is missing, not up to date, or was created by another tool"),
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
