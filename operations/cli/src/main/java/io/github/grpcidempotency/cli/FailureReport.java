package io.github.grpcidempotency.cli;

import com.google.common.base.Throwables;
import io.github.grpcidempotency.admin.AdministrationException;
import io.github.grpcidempotency.store.StoreException;
import java.sql.SQLException;
import java.util.Optional;

/**
 * The exit code and the message for a failure.
 *
 * @param exitCode the exit code
 * @param message the message
 */
record FailureReport(ExitCode exitCode, String message) {
  static FailureReport of(Throwable failure) {
    if (failure instanceof CommandFailure told) {
      return new FailureReport(told.exitCode(), String.valueOf(told.getMessage()));
    }
    if (failure instanceof AdministrationException refused) {
      return new FailureReport(exitCode(refused.problem()), String.valueOf(refused.getMessage()));
    }
    if (failure instanceof StoreException unavailable) {
      return new FailureReport(ExitCode.UNREACHABLE, String.valueOf(unavailable.getMessage()));
    }
    return sqlException(failure)
        .map(FailureReport::ofDatabase)
        .orElseGet(
            () ->
                new FailureReport(
                    ExitCode.FAILED,
                    "an unexpected error: "
                        + Optional.ofNullable(failure.getMessage()).orElse("no message")));
  }

  private static ExitCode exitCode(AdministrationException.Problem problem) {
    return switch (problem) {
      case UNREACHABLE, READ_ONLY -> ExitCode.UNREACHABLE;
      case RIGHT_MISSING -> ExitCode.NO_RIGHT;
      case SCHEMA_MISSING, SCHEMA_TOO_OLD -> ExitCode.WRONG_SCHEMA;
      case OTHER -> ExitCode.FAILED;
    };
  }

  private static FailureReport ofDatabase(SQLException failure) {
    String said = firstLine(failure);
    return switch (exitCode(String.valueOf(failure.getSQLState()), said)) {
      case NO_RIGHT -> new FailureReport(ExitCode.NO_RIGHT, said + "\nThe role lacks a right.");
      case UNREACHABLE ->
          new FailureReport(ExitCode.UNREACHABLE, "the database cannot be reached: " + said);
      case WRONG_SCHEMA ->
          new FailureReport(
              ExitCode.WRONG_SCHEMA,
              said
                  + "\nCheck that the schema's name is right (--schema), and that its migrations"
                  + " were run.");
      default -> new FailureReport(ExitCode.FAILED, "the database reports: " + said);
    };
  }

  static ExitCode exitCode(SQLException failure) {
    return exitCode(String.valueOf(failure.getSQLState()), firstLine(failure));
  }

  private static ExitCode exitCode(String state, String said) {
    if (state.startsWith("28") || state.equals("42501") || isLogin(state, said)) {
      return ExitCode.NO_RIGHT;
    }
    return switch (state) {
      case "42883", "42P01", "3F000", "42703" -> ExitCode.WRONG_SCHEMA;
      case "3D000", "53300", "57P01", "57P02", "57P03" -> ExitCode.UNREACHABLE;
      default -> state.startsWith("08") ? ExitCode.UNREACHABLE : ExitCode.FAILED;
    };
  }

  /**
   * Returns whether the server refused the login. The driver uses one SQLSTATE for this and for a
   * missing password.
   */
  static boolean isLogin(String state, String said) {
    return state.equals("08004") && said.contains("password");
  }

  static Optional<SQLException> sqlException(Throwable failure) {
    return Throwables.getCausalChain(failure).stream()
        .filter(SQLException.class::isInstance)
        .map(SQLException.class::cast)
        .findFirst();
  }

  private static String firstLine(SQLException failure) {
    return String.valueOf(failure.getMessage()).lines().findFirst().orElse("no message");
  }
}
