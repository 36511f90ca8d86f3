package io.github.grpcidempotency.admin;

import java.sql.SQLException;
import java.util.Optional;

/**
 * The database refused, or could not be asked. The message says what is wrong and how to mend it;
 * it carries no key and no contents. Nothing was done, unless the problem is {@link
 * Problem#UNREACHABLE}: then it is not known.
 */
public final class AdministrationException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final Problem problem;

  /** What is wrong. */
  public enum Problem {
    /** The database cannot be reached, or the connection was cut while it worked. */
    UNREACHABLE,
    /** The role may not call the function; the message names the grant. */
    RIGHT_MISSING,
    /** There is no such schema. */
    SCHEMA_MISSING,
    /** The schema lacks the operators' functions: its migrations are those of an older release. */
    SCHEMA_TOO_OLD,
    /** The database takes no writes, as a standby does. */
    READ_ONLY,
    /** Anything else. */
    OTHER
  }

  AdministrationException(Problem problem, String message, Optional<SQLException> cause) {
    super(message, cause.orElse(null));
    this.problem = problem;
  }

  /** Returns what is wrong. */
  public Problem problem() {
    return problem;
  }
}
