package io.github.grpcidempotency.postgres;

import io.github.grpcidempotency.procedure.IdempotencyStatus;
import io.github.grpcidempotency.procedure.StatusResolver;
import java.sql.Array;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
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
 * <p>Immutable. Only {@link PostgresIdempotencyStore} can run it; with another store the status is
 * {@code processing}.
 */
public final class OutboxStatusResolver implements StatusResolver {
  private static final Logger logger = LoggerFactory.getLogger(OutboxStatusResolver.class);
  private static final Pattern PLACEHOLDER = Pattern.compile("(?<![:\\w]):resource_id(?!\\w)");

  /**
   * Matches every identifier that could refer to the columns of the record, including identifiers
   * with Unicode escapes.
   */
  private static final Pattern RESERVED =
      Pattern.compile("idempotency_record|u&\"", Pattern.CASE_INSENSITIVE);

  private final String query;
  private final Map<String, IdempotencyStatus> statuses;
  private final IdempotencyStatus absent;

  private OutboxStatusResolver(Builder builder) {
    this.query = builder.query;
    this.statuses = Map.copyOf(builder.statuses);
    this.absent = builder.absent;
  }

  /**
   * Starts a resolver.
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
  public static Builder query(String query) {
    return new Builder(query);
  }

  @Override
  public IdempotencyStatus resolve(UUID resourceId) {
    throw new UnsupportedOperationException(
        "only the PostgreSQL store can run an outbox query, and the query of this call could"
            + " not be run: the status is reported as processing");
  }

  @Override
  public boolean isReadByStore() {
    return true;
  }

  /** Returns the query with an expression for the resource id. */
  String queryFor(String resourceId) {
    return PLACEHOLDER.matcher(query).replaceAll(Matcher.quoteReplacement(resourceId));
  }

  /** Returns the entries that the query found: none, one, or the first two. */
  static List<String> found(ResultSet row) throws SQLException {
    return foundIfAsked(row).orElse(List.of());
  }

  /**
   * Returns the entries that the query found; empty if the statement did not run the query for this
   * row.
   */
  static Optional<List<String>> foundIfAsked(ResultSet row) throws SQLException {
    Array entries = row.getArray("outbox_status");
    return entries == null ? Optional.empty() : Optional.of(List.of((String[]) entries.getArray()));
  }

  /**
   * Maps the entries that the query found to a status. Unknown values map to {@code processing}.
   */
  IdempotencyStatus statusOf(List<String> found) {
    if (found.isEmpty()) {
      return absent;
    }
    if (found.size() > 1) {
      logger.warn(
          "the outbox query found more than one row, so the status is reported as"
              + " processing; end the query with LIMIT 1: {}",
          query);
      return IdempotencyStatus.PROCESSING;
    }
    String word = found.get(0);
    IdempotencyStatus status = statuses.get(word);
    if (status == null) {
      logger.warn(
          "the outbox value \"{}\" is not mapped to a status, so the status is reported as"
              + " processing; map it with OutboxStatusResolver.Builder.map",
          word);
      return IdempotencyStatus.PROCESSING;
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

    /** Returns the resolver. */
    public OutboxStatusResolver build() {
      return new OutboxStatusResolver(this);
    }
  }
}
