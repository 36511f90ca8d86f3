package io.github.grpcidempotency.resource;

import io.github.grpcidempotency.background.RateLimitedLog;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.LoggerFactory;

/**
 * Reads a resource's status from the service's own outbox table. The query is sent with the claim,
 * or with the rollback of a transactional claim that found an answer, so it costs no extra round
 * trip. The query runs as the application's role, with the caller's {@code app.current_user_id}
 * set, so it sees only the rows that row-level security shows to that user. If the policies of the
 * outbox need more, such as the tenant, {@linkplain Builder#set set} it.
 *
 * <p>Nothing may depend on the calling thread, such as a tenant in a thread-local variable, or a
 * {@code search_path} that a pool sets at checkout: the store runs the queries of several calls
 * together, on connections and threads of its own. Use a {@link StatusResolver} if code of the
 * service must find the status.
 *
 * <p>The outbox needs an index for the query, newest entry first: {@code CREATE INDEX ON outbox
 * (project_id, id DESC)}.
 *
 * <p>Immutable. Only the PostgreSQL store can run it; with another store the status is {@code
 * processing}.
 */
public final class OutboxQuery implements StatusSource {
  private static final Pattern PARAMETER =
      Pattern.compile("(?<![:\\w]):(resource_id|user_id|tenant|project)(?!\\w)");

  private static final Pattern RESOURCE = Pattern.compile("(?<![:\\w]):resource_id(?!\\w)");

  private static final Pattern SETTING = Pattern.compile("[a-z_][a-z0-9_]*(\\.[a-z0-9_]+)*");

  /** How many look-ups must have found nothing, and no look-up anything, before a warning. */
  private static final int SUSPICIOUS = 3;

  /**
   * Matches every identifier that could refer to the columns of the record, including identifiers
   * with Unicode escapes.
   */
  private static final Pattern RESERVED =
      Pattern.compile("idempotency_record|u&\"", Pattern.CASE_INSENSITIVE);

  private final RateLimitedLog log = RateLimitedLog.of(LoggerFactory.getLogger(OutboxQuery.class));
  private final String query;
  private final Map<String, IdempotencyStatus> statuses;
  private final IdempotencyStatus absent;
  private final Map<String, String> settings;
  private final AtomicInteger misses = new AtomicInteger();
  private volatile boolean everFound;

  private OutboxQuery(Builder builder) {
    this.query = builder.query;
    this.statuses = Map.copyOf(builder.statuses);
    this.absent = builder.absent;
    this.settings = Collections.unmodifiableMap(new LinkedHashMap<>(builder.settings));
  }

  /**
   * Returns a builder.
   *
   * <p>End the query with {@code LIMIT 1}: if it finds more than one row, the status is {@code
   * processing}, with a warning. A query that finds more than one row for a resource that does not
   * exist is refused when the server starts. Of the record, the query can use the resource id only.
   *
   * <p>Besides {@code :resource_id}, the query may contain {@code :user_id}, a UUID, and {@code
   * :tenant} and {@code :project}, which are text: those of the caller of the replay. A missing
   * tenant or project is an empty text.
   *
   * @param query a SELECT of one text value in at most one row, such as {@code SELECT status FROM
   *     outbox WHERE project_id = :resource_id ORDER BY id DESC LIMIT 1}
   * @throws IllegalArgumentException if the query lacks {@code :resource_id}, has a semicolon, or
   *     uses a name with {@code idempotency_record} in it, or with Unicode escapes
   */
  public static Builder of(String query) {
    return new Builder(query);
  }

  /**
   * Returns the query with an SQL expression for each of its parameters. For implementations of
   * stores.
   *
   * @param expressions returns the expression for {@code resource_id}, {@code user_id}, {@code
   *     tenant} or {@code project}
   */
  public String sql(UnaryOperator<String> expressions) {
    return sql(query, expressions);
  }

  /**
   * Returns the settings that hold for the query: an SQL expression for each name. For
   * implementations of stores.
   *
   * @param expressions as for {@link #sql}
   */
  public Map<String, String> settings(UnaryOperator<String> expressions) {
    Map<String, String> values = new LinkedHashMap<>();
    settings.forEach((name, value) -> values.put(name, sql(value, expressions)));
    return values;
  }

  private static String sql(String text, UnaryOperator<String> expressions) {
    return PARAMETER
        .matcher(text)
        .replaceAll(found -> Matcher.quoteReplacement(expressions.apply(found.group(1))));
  }

  /**
   * Returns the status for what the query found; empty, with a warning, for an unknown value or
   * several rows. For implementations of stores.
   *
   * <p>Logs a warning if the query has never found a row, although records are young: their entries
   * are probably hidden.
   *
   * @param found the values: none, one, or the first two
   * @param young whether the record was made so recently that its entry should still be there
   */
  public Optional<IdempotencyStatus> statusOf(List<String> found, boolean young) {
    if (found.isEmpty()) {
      if (young && !everFound && misses.incrementAndGet() >= SUSPICIOUS) {
        log.warn(
            "absent",
            null,
            ("the outbox query has never found an entry, not even for new records, so the status is"
                    + " reported as %s. If the outbox has entries, row-level security may hide"
                    + " them: set what its policies need with OutboxQuery.Builder.set, or use a"
                    + " StatusResolver: %s")
                .formatted(absent.name().toLowerCase(Locale.ROOT), query));
      }
      return Optional.of(absent);
    }
    everFound = true;
    if (found.size() > 1) {
      log.warn(
          "rows",
          null,
          "the outbox query found more than one row, so the status is reported as processing; end"
              + " the query with LIMIT 1: "
              + query);
      return Optional.empty();
    }
    String word = found.get(0);
    Optional<IdempotencyStatus> status = Optional.ofNullable(statuses.get(word));
    if (status.isEmpty()) {
      log.warn(
          "value",
          null,
          ("the outbox value \"%s\" is not mapped to a status, so the status is reported as"
                  + " processing; map it with OutboxQuery.Builder.map")
              .formatted(word));
    }
    return status;
  }

  /** Maps the values of an outbox to the three statuses. Not thread-safe. */
  public static final class Builder {
    private final String query;
    private final Map<String, IdempotencyStatus> statuses = new HashMap<>();
    private final Map<String, String> settings = new LinkedHashMap<>();
    private IdempotencyStatus absent = IdempotencyStatus.PROCESSING;

    private Builder(String query) {
      if (!RESOURCE.matcher(query).find() || !isPart(query)) {
        throw new IllegalArgumentException(
            "an outbox query must be one SELECT that contains :resource_id, has no semicolon, and"
                + " uses no name that contains idempotency_record and no Unicode escapes");
      }
      this.query = query;
    }

    private static boolean isPart(String sql) {
      return !sql.contains(";") && !RESERVED.matcher(sql).find();
    }

    /**
     * Sets a configuration parameter of the database for the query, as {@code set_config(…, true)}
     * does: {@code set("app.current_tenant", ":tenant")} for policies that compare a column with
     * {@code current_setting('app.current_tenant')}.
     *
     * @param name the parameter, in lower case
     * @param value an SQL expression of its value; it may contain {@code :user_id}, {@code :tenant}
     *     and {@code :project}
     * @throws IllegalArgumentException if the name is malformed or {@code app.current_user_id},
     *     which the store sets, or if the value has a semicolon, contains {@code :resource_id}, or
     *     uses a name with {@code idempotency_record} in it, or with Unicode escapes
     */
    public Builder set(String name, String value) {
      if (!SETTING.matcher(name).matches()
          || name.equals("app.current_user_id")
          || RESOURCE.matcher(value).find()
          || !isPart(value)) {
        throw new IllegalArgumentException(
            ("the setting %s of an outbox query must have a name in lower case other than"
                    + " app.current_user_id, and an expression without a semicolon, without"
                    + " :resource_id, and without names that contain idempotency_record")
                .formatted(name));
      }
      settings.put(name, value);
      return this;
    }

    /** Adds the outbox's values for one status. */
    public Builder map(IdempotencyStatus status, String... words) {
      for (String word : words) {
        statuses.put(word, status);
      }
      return this;
    }

    /**
     * Sets the status of a resource without an entry; {@code PROCESSING} by default. If the outbox
     * deletes entries that are done, set {@code COMPLETED}.
     */
    public Builder whenAbsent(IdempotencyStatus status) {
      this.absent = status;
      return this;
    }

    public OutboxQuery build() {
      return new OutboxQuery(this);
    }
  }
}
