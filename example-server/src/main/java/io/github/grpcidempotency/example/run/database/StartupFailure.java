package io.github.grpcidempotency.example.run.database;

import java.io.Serial;
import java.nio.file.FileSystemException;
import java.sql.SQLException;

/** Why the server cannot start, in one sentence for a human. */
public final class StartupFailure extends RuntimeException {
  @Serial private static final long serialVersionUID = 1;

  /** Makes a failure that says it all. */
  public StartupFailure(String sentence) {
    super(oneLine(sentence));
  }

  private StartupFailure(String sentence, Throwable cause) {
    super(oneLine(sentence), cause);
  }

  /** Makes a failure whose reason lies in the database, or on the way to it. */
  public static StartupFailure because(String sentence, Throwable failure) {
    return new StartupFailure(sentence + ": " + innermost(failure), failure);
  }

  /** The database's own words, if it said any. */
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
