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
 * The statements in the folders of {@code postgres/sql}, with their {@code ${parts}} replaced. The
 * database copies a statement's text at every execution, so comments and indentation are removed.
 *
 * <p>Every file may use {@code ${caller}}, which lets row-level security show the rows of the
 * caller, until the end of the transaction, and {@code ${same_key}}, which selects the row {@code
 * k} of a key and its caller. The schema's name is written in quotation marks.
 *
 * <p>Every file may use three settings, which last until the end of the transaction. {@code
 * ${lock_timeout}} limits the wait for a locked row or table. {@code ${statement_timeout}} limits a
 * statement that reads more than the rows of known keys. {@code ${generic_plans}} makes PostgreSQL
 * use one plan for all values: a statement that knows its key needs no other, but PostgreSQL would
 * plan it again for each execution if the table is partitioned. A file that runs within a
 * transaction of a handler uses {@code ${kept_lock_timeout}} instead, and {@code
 * ${restored_lock_timeout}} at its end.
 *
 * <p>Statements for several calls use two more. {@code ${short_lock_timeout}} limits how long the
 * row of one call delays the others. {@code ${indexed_plans}} prevents a plan that reads the whole
 * table: such a plan is the cheapest while the table is small, and would be kept while it grows. It
 * also switches JIT off, which the high cost of a plan without an alternative would start.
 *
 * <p>Immutable.
 */
public final class SqlFiles {
  /**
   * Shorter than any sensible {@code socketTimeout}, because the driver closes a connection on
   * which nothing arrives for longer. The migration sets the same value for the functions.
   */
  private static final String LOCK_TIMEOUT = "set_config('lock_timeout', '2s', true)";

  /**
   * Ends a statement whose client has gone. A shorter time that the host has set stays. Statements
   * in front of a {@code COMMIT} do not use it: PostgreSQL would also end the commit's wait for a
   * synchronous standby, and report the commit as done.
   */
  private static final String STATEMENT_TIMEOUT =
      "set_config('statement_timeout',"
          + " CASE WHEN CAST(current_setting('statement_timeout') AS interval)"
          + " BETWEEN interval '1 ms' AND interval '1 min'"
          + " THEN current_setting('statement_timeout') ELSE '1min' END, true)";

  private static final String CALLER =
      "set_config('app.current_user_id', :user, true),"
          + " set_config('idempotency.tenant', :tenant, true),"
          + " set_config('idempotency.project', :project, true)";

  private static final String SAME_KEY =
      "k.idempotency_key = :key AND k.user_uuid = CAST(:user AS uuid)"
          + " AND k.tenant = :tenant AND k.project = :project";

  private static final String KEPT_LOCK_TIMEOUT =
      "set_config('idempotency.lock_timeout', current_setting('lock_timeout'), true), "
          + LOCK_TIMEOUT;
  private static final String RESTORED_LOCK_TIMEOUT =
      "set_config('lock_timeout', current_setting('idempotency.lock_timeout'), true)";

  /** Files that name no schema. */
  public static final SqlFiles WITHOUT_SCHEMA =
      new SqlFiles(
          ImmutableMap.<String, String>builder()
              .put("caller", CALLER)
              .put("same_key", SAME_KEY)
              .put("lock_timeout", LOCK_TIMEOUT)
              .put("kept_lock_timeout", KEPT_LOCK_TIMEOUT)
              .put("restored_lock_timeout", RESTORED_LOCK_TIMEOUT)
              .put("statement_timeout", STATEMENT_TIMEOUT)
              .put("short_lock_timeout", "set_config('lock_timeout', '100ms', true)")
              .put("generic_plans", "set_config('plan_cache_mode', 'force_generic_plan', true)")
              .put(
                  "indexed_plans",
                  "set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true)")
              .buildOrThrow());

  private static final String FOLDER = "/io/github/grpcidempotency/postgres/sql/";
  private static final Pattern COMMENT = Pattern.compile("--.*");
  private static final Pattern NAME = Pattern.compile("\\$\\{([a-z_]+)}");
  private static final Pattern SPACE = Pattern.compile("\\s+");

  private final Map<String, String> parts;

  private SqlFiles(Map<String, String> parts) {
    this.parts = parts;
  }

  /** Returns the files for a schema. Statements of calls need more parts. */
  public static SqlFiles of(String schema) {
    return WITHOUT_SCHEMA.with("schema", schema);
  }

  /**
   * Returns the files for the calls of a store.
   *
   * @param hosted whether the host begins and ends transactions. It then also runs the statements
   *     that record the answer, so these must check that the current transaction is still the
   *     claim's. Otherwise the statements begin and commit the transaction themselves, which needs
   *     no extra round trip
   * @param notifies whether servers notify each other when an awaited operation ends
   * @param timeLines whether the time line of the database is read, which changes with every
   *     failover
   */
  public static SqlFiles of(String schema, boolean hosted, boolean notifies, boolean timeLines) {
    SqlFiles files = of(schema);
    return files
        .with("begin", hosted ? "" : "BEGIN;")
        .with("commit", hosted ? "SELECT " + RESTORED_LOCK_TIMEOUT : "COMMIT")
        .with("rollback", hosted ? "" : "ROLLBACK")
        .with("taken", hosted ? files.load("transaction/taken") : "true")
        .withFile("use", "transaction/use", hosted)
        .withFile("wake", "maintenance/wake", notifies)
        .withFile("wake_batch", "maintenance/wake_batch", notifies)
        .with("time_line", timeLines ? files.load("claim/time_line") : "CAST(NULL AS text)")
        .withFile("same_time_line", "settle/same_time_line", timeLines)
        .withFile("same_time_line_batch", "settle/same_time_line_batch", timeLines);
  }

  private SqlFiles withFile(String part, String name, boolean present) {
    return with(part, present ? load(name) : "");
  }

  /** Returns the same files with another part. */
  public SqlFiles with(String part, String value) {
    Map<String, String> changed = new HashMap<>(parts);
    changed.put(part, value);
    return new SqlFiles(changed);
  }

  /**
   * Loads a statement from a folder and file, without the suffix.
   *
   * @throws IllegalArgumentException if it names a part for which there is no value
   */
  public String load(String name) {
    return NAME.matcher(compact(read(name)))
        .replaceAll(found -> Matcher.quoteReplacement(part(found.group(1))));
  }

  String part(String name) {
    String value = parts.get(name);
    if (value == null) {
      throw new IllegalArgumentException("a statement needs a value for " + name);
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
          Resources.getResource(SqlFiles.class, FOLDER + name + ".sql"), StandardCharsets.UTF_8);
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }
}
