package io.github.grpcidempotency.resource;

import io.github.grpcidempotency.store.support.RateLimitedLog;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.LoggerFactory;

/**
 * Reads a resource's status from the service's own outbox table. The query is sent with the claim,
 * or with the rollback of a transactional claim that found an answer, so it costs no extra round
 * trip. The query runs as the application's role, with the caller's {@code app.current_user_id}
 * set, so it sees only the rows that row-level security shows to that user.
 *
 * <p>The outbox needs an index for the query, newest entry first: {@code CREATE INDEX ON outbox
 * (project_id, id DESC)}.
 *
 * <p>Immutable. Only the PostgreSQL store can run it; with another store the status is {@code
 * processing}.
 */
public final class OutboxQuery implements StatusSource {
  private static final Pattern PLACEHOLDER = Pattern.compile("(?<![:\\w]):resource_id(?!\\w)");

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

  private OutboxQuery(Builder builder) {
    this.query = builder.query;
    this.statuses = Map.copyOf(builder.statuses);
    this.absent = builder.absent;
  }

  /**
   * Returns a builder.
   *
   * <p>End the query with {@code LIMIT 1}: if it finds more than one row, the status is {@code
   * processing}, with a warning. A query that finds more than one row for a resource that does not
   * exist is refused when the server starts. Of the record, the query can use the resource id only.
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
   * Returns the query with an expression for the resource id. For implementations of stores.
   *
   * @param resourceId an SQL expression
   */
  public String sql(String resourceId) {
    return PLACEHOLDER.matcher(query).replaceAll(Matcher.quoteReplacement(resourceId));
  }

  /**
   * Returns the status for what the query found; empty, with a warning, for an unknown value or
   * several rows. For implementations of stores.
   *
   * @param found the values: none, one, or the first two
   */
  public Optional<IdempotencyStatus> statusOf(List<String> found) {
    if (found.isEmpty()) {
      return Optional.of(absent);
    }
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
    private IdempotencyStatus absent = IdempotencyStatus.PROCESSING;

    private Builder(String query) {
      if (!PLACEHOLDER.matcher(query).find()
          || query.contains(";")
          || RESERVED.matcher(query).find()) {
        throw new IllegalArgumentException(
            "an outbox query must be one SELECT that contains :resource_id, has no semicolon, and"
                + " uses no name that contains idempotency_record and no Unicode escapes");
      }
      this.query = query;
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
