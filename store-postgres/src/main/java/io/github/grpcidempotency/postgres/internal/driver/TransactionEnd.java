package io.github.grpcidempotency.postgres.internal.driver;

import java.sql.SQLException;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Detects statements that would end the transaction. The first letter rules out most texts; the
 * driver's own parser splits the others into statements.
 */
public final class TransactionEnd {
  private static final String FIRST_LETTERS = "cCeErRaApP";

  private TransactionEnd() {}

  /**
   * Returns the first word of a statement that would end a transaction; empty if the text has no
   * such statement.
   */
  public static Optional<String> in(String sql) {
    if (!mayBeIn(sql)) {
      return Optional.empty();
    }
    List<String> statements;
    try {
      statements = Driver.statementsIn(sql);
    } catch (SQLException malformed) {
      return Optional.empty(); // not sent: the driver parses the text in the same way and fails
    }
    return statements.stream().map(Words::new).flatMap(words -> end(words).stream()).findFirst();
  }

  private static boolean mayBeIn(String sql) {
    for (int at = 0; at < sql.length(); at++) {
      char letter = sql.charAt(at);
      if (!Driver.isSpace(letter)) {
        return letter == '-'
            || letter == '/'
            || FIRST_LETTERS.indexOf(letter) >= 0
            || sql.indexOf(';') >= 0;
      }
    }
    return false;
  }

  private static Optional<String> end(Words words) {
    String first = words.next();
    return switch (first) {
      case "commit", "end", "abort" -> Optional.of(first);
      case "rollback" -> isToSavepoint(words) ? Optional.empty() : Optional.of(first);
      case "prepare" -> words.next().equals("transaction") ? Optional.of(first) : Optional.empty();
      default -> Optional.empty();
    };
  }

  private static boolean isToSavepoint(Words words) {
    String next = words.next();
    return (next.equals("work") || next.equals("transaction") ? words.next() : next).equals("to");
  }

  private static final class Words {
    private final char[] text;
    private int at;

    Words(String statement) {
      this.text = statement.toCharArray();
    }

    /** Returns the next word; empty if something else follows. */
    String next() {
      skipSpaceAndComments();
      int begin = at;
      while (at < text.length && Driver.isPartOfName(text[at])) {
        at++;
      }
      return new String(text, begin, at - begin).toLowerCase(Locale.ROOT);
    }

    private void skipSpaceAndComments() {
      while (at < text.length) {
        int end = Driver.endOfComment(text, at);
        if (end == at && !Driver.isSpace(text[at])) {
          return;
        }
        at =
            Math.min(end + 1, text.length); // the end of an unterminated comment is beyond the text
      }
    }
  }
}
