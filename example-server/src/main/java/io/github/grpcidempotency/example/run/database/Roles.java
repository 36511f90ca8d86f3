package io.github.grpcidempotency.example.run.database;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/** The roles that {@code db/roles.sql} creates. */
public final class Roles {
  /** Owns the database and runs the migrations. */
  public static final String OWNER = "example_owner";

  /** Serves calls. */
  public static final String APP = "example_app";

  /** Drains the outbox. */
  public static final String WORKER = "example_worker";

  /** Looks at keys, and frees or forgets them. */
  public static final String OPERATOR = "example_operator";

  private static final String SCRIPT = "/db/roles.sql";

  private Roles() {}

  /** Returns the script, which a superuser may run any number of times. */
  static String script() {
    try (InputStream script =
        Objects.requireNonNull(Roles.class.getResourceAsStream(SCRIPT), SCRIPT)) {
      return new String(script.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
