package io.github.grpcidempotency.example.run.database;

import java.io.Serial;
import java.nio.file.FileSystemException;
import java.sql.SQLException;

/** Why the server cannot start, in one sentence for a human. */
public final class StartupFailure extends RuntimeException {
  @Serial private static final long serialVersionUID = 1;

  /** Makes a failure with a complete message. */
  public StartupFailure(String sentence) {
    super(oneLine(sentence));
  }

  private StartupFailure(String sentence, Throwable cause) {
    super(oneLine(sentence), cause);
  }

  /** Makes a failure with its cause, such as an error of the database. */
  public static StartupFailure because(String sentence, Throwable failure) {
    return new StartupFailure(sentence + ": " + innermost(failure), failure);
  }

  /** Returns the message of the database, if there is one. */
  private static String innermost(Throwable failure) {
    String message = String.valueOf(failure.getMessage());
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof SQLException) {
        return String.valueOf(cause.getMessage());
      }
      if (cause instanceof FileSystemException) { // its message is but the path
        return cause.getClass().getSimpleName() + ", " + cause.getMessage();
      }
      if (cause.getMessage() != null) {
        message = cause.getMessage();
      }
    }
    return message;
  }

  private static String oneLine(String sentence) {
    return sentence.strip().replaceAll("\\s*\\R\\s*", " ");
  }
}
