package io.github.grpcidempotency.client;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Collections;

/**
 * The statements of an {@link IntentStore}. They are the same for both databases, except for the
 * fragments of a {@link Dialect}.
 */
final class IntentSql {
  /**
   * The differences between the databases.
   *
   * @param intents the name of the table
   * @param now the time of the statement
   * @param inMs the time after a number of milliseconds, which is a parameter
   * @param ageMs the age of a row in milliseconds
   * @param skipLocked prevents two workers from taking the same row; empty for SQLite, which has
   *     one writer at a time
   */
  private record Dialect(
      String intents, String now, String inMs, String ageMs, String skipLocked) {}

  static final IntentSql POSTGRES =
      new IntentSql(
          new Dialect(
              "idempotency_client.intents",
              "now()",
              "now() + ? * interval '1 millisecond'",
              "(extract(epoch FROM now() - created) * 1000)::bigint",
              "FOR UPDATE SKIP LOCKED"));

  static final IntentSql SQLITE =
      new IntentSql(
          new Dialect(
              "idempotency_client_intents",
              "CAST(unixepoch('now', 'subsec') * 1000 AS INTEGER)",
              "CAST(unixepoch('now', 'subsec') * 1000 AS INTEGER) + ?",
              "(CAST(unixepoch('now', 'subsec') * 1000 AS INTEGER) - created)",
              ""));

  private final Dialect dialect;
  final String write;
  private final String take;
  final String renew;
  final String postpone;
  final String answered;
  final String done;
  private final String any;
  private final String others;

  private IntentSql(Dialect dialect) {
    this.dialect = dialect;
    this.write = statement("write");
    this.take = statement("take");
    this.renew = statement("renew");
    this.postpone = statement("postpone");
    this.answered = statement("answered");
    this.done = statement("done");
    this.any = statement("any");
    this.others = statement("others");
  }

  String take(int routes) {
    return with(routes, take);
  }

  String any(int routes) {
    return with(routes, any);
  }

  String others(int routes) {
    return with(routes, others);
  }

  /** Returns the text of an SQL file. */
  static String read(String name) {
    try (InputStream file = IntentSql.class.getResourceAsStream("intents/" + name + ".sql")) {
      if (file == null) {
        throw new IllegalStateException(name + ".sql is missing from the jar");
      }
      return new String(file.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException unreadable) {
      throw new IllegalStateException(name + ".sql cannot be read", unreadable);
    }
  }

  private String statement(String name) {
    return read(name)
        .replace("${intents}", dialect.intents())
        .replace("${now}", dialect.now())
        .replace("${in_ms}", dialect.inMs())
        .replace("${age_ms}", dialect.ageMs())
        .replace("${skip_locked}", dialect.skipLocked());
  }

  private static String with(int routes, String statement) {
    return statement.replace("${routes}", String.join(", ", Collections.nCopies(routes, "(?, ?)")));
  }
}
