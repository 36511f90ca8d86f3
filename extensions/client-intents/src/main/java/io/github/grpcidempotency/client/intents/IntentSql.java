package io.github.grpcidempotency.client.intents;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Collections;

/** The statements of an {@link IntentStore}. */
final class IntentSql {
  static final String WRITE = read("write");
  static final String RENEW = read("renew");
  static final String POSTPONE = read("postpone");
  static final String ANSWERED = read("answered");
  static final String DONE = read("done");
  private static final String TAKE = read("take");
  private static final String ANY = read("any");

  private IntentSql() {}

  static String take(int routes, int shares) {
    return with(routes, TAKE).replace("${shares}", rows(shares));
  }

  static String any(int routes) {
    return with(routes, ANY);
  }

  private static String read(String name) {
    try (InputStream file = IntentSql.class.getResourceAsStream(name + ".sql")) {
      if (file == null) {
        throw new IllegalStateException(name + ".sql is missing from the jar");
      }
      return new String(file.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException unreadable) {
      throw new IllegalStateException(name + ".sql cannot be read", unreadable);
    }
  }

  private static String with(int routes, String statement) {
    return statement.replace("${routes}", rows(routes));
  }

  private static String rows(int number) {
    return String.join(", ", Collections.nCopies(number, "(?, ?)"));
  }
}
