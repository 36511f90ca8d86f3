package io.github.grpcidempotency.admin;

import java.sql.SQLException;
import java.util.Optional;

/**
 * The database refused a request, or could not be reached. The message contains the problem and its
 * remedy, but no key and no contents. Nothing was changed, unless the problem is {@link
 * Problem#UNREACHABLE}: then the outcome is unknown.
 */
public final class AdministrationException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final Problem problem;

  /** The problem. */
  public enum Problem {
    /** The database cannot be reached, or the connection broke during the request. */
    UNREACHABLE,
    /** The role may not call the function. The message names the missing grant. */
    RIGHT_MISSING,
    /** There is no such schema. */
    SCHEMA_MISSING,
    /** The schema lacks the operators' functions, because it is of an older release. */
    SCHEMA_TOO_OLD,
    /** The database accepts no writes, for example because it is a standby. */
    READ_ONLY,
    /** Any other problem. */
    OTHER
  }

  AdministrationException(Problem problem, String message, Optional<SQLException> cause) {
    super(message, cause.orElse(null));
    this.problem = problem;
  }

  /** Returns the problem. */
  public Problem problem() {
    return problem;
  }
}
