package io.github.grpcidempotency.postgres.internal.sql;

import com.google.common.collect.ImmutableMap;
import com.google.common.io.Resources;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A statement from a folder of {@code postgres/sql}, with its {@code ${names}} replaced. The
 * database copies a statement's text at every execution, so comments and indentation are removed.
 *
 * <p>Every file may use {@code ${caller}}, which lets row-level security show the rows of the
 * caller, until the end of the transaction, and {@code ${same_key}}, which selects the row {@code
 * k} of a key and its caller. The schema's name is written in quotation marks.
 *
 * <p>Every file may use two settings, which last until the end of the transaction. {@code
 * ${lock_timeout}} limits the wait for a locked row. {@code ${generic_plans}} makes PostgreSQL use
 * one plan for all values: a statement that knows its key needs no other, but PostgreSQL would plan
 * it again for each execution if the table is partitioned. A file that runs within a transaction of
 * a handler restores the host's values.
 *
 * <p>Statements for several calls use two more. {@code ${short_lock_timeout}} limits how long the
 * row of one call delays the others. {@code ${indexed_plans}} prevents a plan that reads the whole
 * table: such a plan is the cheapest while the table is small, and would be kept while it grows.
 *
 * <p>Statements that refuse a commit name the SQLSTATEs of {@link CommitRefusal#codes}.
 */
public final class SqlFile {
  /**
   * Shorter than any sensible {@code socketTimeout}, because the driver closes a connection on
   * which nothing arrives for longer. The migration sets the same value for the functions.
   */
  private static final String LOCK_TIMEOUT = "set_config('lock_timeout', '2s', true)";

  private static final String CALLER =
      "set_config('app.current_user_id', :user, true),"
          + " set_config('idempotency.tenant', :tenant, true),"
          + " set_config('idempotency.project', :project, true)";

  private static final String SAME_KEY =
      "k.idempotency_key = :key AND k.user_uuid = CAST(:user AS uuid)"
          + " AND k.tenant = :tenant AND k.project = :project";

  private static final String GENERIC_PLANS =
      "set_config('plan_cache_mode', 'force_generic_plan', true)";

  private static final Map<String, String> SETTINGS =
      ImmutableMap.<String, String>builder()
          .put("caller", CALLER)
          .put("same_key", SAME_KEY)
          .put("lock_timeout", LOCK_TIMEOUT)
          .put("short_lock_timeout", "set_config('lock_timeout', '100ms', true)")
          .put("generic_plans", GENERIC_PLANS)
          .put("indexed_plans", "set_config('enable_seqscan', 'off', true)")
          .putAll(CommitRefusal.codes())
          .buildOrThrow();

  private static final String KEEP =
      "set_config('idempotency.<setting>', current_setting('<setting>'), true), ";
  private static final String RESTORE =
      "set_config('<setting>', current_setting('idempotency.<setting>'), true)";

  private static final String FOLDER = "/io/github/grpcidempotency/postgres/sql/";
  private static final Pattern COMMENT = Pattern.compile("--.*");
  private static final Pattern NAME = Pattern.compile("\\$\\{([a-z_]+)}");
  private static final Pattern SPACE = Pattern.compile("\\s+");

  private SqlFile() {}

  /**
   * Loads a statement from a folder and file, without the suffix.
   *
   * @throws IllegalArgumentException if it has a name for which there is no value
   */
  public static String load(String name, Map<String, String> values) {
    return NAME.matcher(compact(read(name)))
        .replaceAll(found -> Matcher.quoteReplacement(value(name, found.group(1), values)));
  }

  /**
   * Loads the last statements of a transaction of the host, after which the host commits. The
   * statements end at {@code ${commit}} in the file.
   */
  static String loadRestoring(String name, Map<String, String> values) {
    Map<String, String> all = new HashMap<>(values);
    all.put("lock_timeout", of("lock_timeout", KEEP) + LOCK_TIMEOUT);
    all.put("commit", "SELECT " + of("lock_timeout", RESTORE));
    return load(name, all);
  }

  /** Loads statements that end at {@code ${commit}} in the file, and commit there. */
  static String loadCommitting(String name, Map<String, String> values) {
    Map<String, String> all = new HashMap<>(values);
    all.put("commit", "COMMIT");
    return load(name, all);
  }

  private static String of(String setting, String statement) {
    return statement.replace("<setting>", setting);
  }

  private static String value(String file, String name, Map<String, String> values) {
    String value = values.getOrDefault(name, SETTINGS.get(name));
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
          Resources.getResource(SqlFile.class, FOLDER + name + ".sql"), StandardCharsets.UTF_8);
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }
}
