package io.github.grpcidempotency.postgres;

import com.google.common.io.Resources;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A statement from a folder of this package's {@code sql}, with its {@code ${names}} replaced. The
 * database copies a statement's text at every execution, so comments and indentation are removed.
 *
 * <p>Every file may use {@code ${lock_timeout}}, which limits the wait for a locked row until the
 * end of the transaction. A file that runs within a transaction of a handler restores the host's
 * value.
 */
final class SqlFile {
  /**
   * Shorter than any sensible {@code socketTimeout}, because the driver closes a connection on
   * which nothing arrives for longer. The migration sets the same value for the functions.
   */
  private static final String LOCK_TIMEOUT = "set_config('lock_timeout', '2s', true)";

  private static final String KEEP_LOCK_TIMEOUT =
      "set_config('idempotency.lock_timeout', current_setting('lock_timeout'), true), "
          + LOCK_TIMEOUT;
  private static final String RESTORE_LOCK_TIMEOUT =
      "SELECT set_config('lock_timeout', current_setting('idempotency.lock_timeout'), true)";

  private static final Pattern COMMENT = Pattern.compile("--.*");
  private static final Pattern NAME = Pattern.compile("\\$\\{([a-z_]+)}");
  private static final Pattern SPACE = Pattern.compile("\\s+");

  private SqlFile() {}

  /**
   * Loads a statement.
   *
   * @param name its folder and file, without the suffix
   * @param values the values of the names in it
   * @throws IllegalArgumentException if it has a name for which there is no value
   */
  static String load(String name, Map<String, String> values) {
    return NAME.matcher(compact(read(name)))
        .replaceAll(found -> Matcher.quoteReplacement(value(name, found.group(1), values)));
  }

  /**
   * Loads the last statements of a transaction of the host, after which the host commits. The
   * statements end at {@code ${commit}} in the file.
   */
  static String loadRestoring(String name, Map<String, String> values) {
    Map<String, String> all = new HashMap<>(values);
    all.put("lock_timeout", KEEP_LOCK_TIMEOUT);
    all.put("commit", RESTORE_LOCK_TIMEOUT);
    return load(name, all);
  }

  private static String value(String file, String name, Map<String, String> values) {
    String value = values.get(name);
    if (value == null && name.equals("lock_timeout")) {
      return LOCK_TIMEOUT;
    }
    if (value == null) {
      throw new IllegalArgumentException("%s needs a value for %s".formatted(file, name));
    }
    return value;
  }

  private static String compact(String sql) {
    String uncommented = COMMENT.matcher(sql).replaceAll("");
    return SPACE.matcher(uncommented).replaceAll(" ").strip();
  }

  private static String read(String name) {
    try {
      return Resources.toString(
          Resources.getResource(SqlFile.class, "sql/" + name + ".sql"), StandardCharsets.UTF_8);
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }
}
