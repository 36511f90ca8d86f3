package io.github.grpcidempotency.postgres;

import io.github.grpcidempotency.procedure.IdempotencyStatus;
import io.github.grpcidempotency.procedure.StatusResolver;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads a resource's status from the service's own outbox table. The query travels with the claim,
 * or with the rollback of a transactional one that found an answer, so a replay costs no further
 * round trip; it runs as the application's role, with the caller's {@code app.current_user_id} set,
 * and sees what row-level security lets that user see.
 *
 * <p>Index the outbox for it, newest entry first: {@code CREATE INDEX ON outbox (project_id, id
 * DESC)}.
 *
 * <p>Immutable. Only {@link PostgresIdempotencyStore} can ask it; with another store the status is
 * {@code processing}.
 */
public final class OutboxStatusResolver implements StatusResolver {
  private static final Logger logger = LoggerFactory.getLogger(OutboxStatusResolver.class);
  private static final String PLACEHOLDER = ":resource_id";

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
   * @param query a SELECT of one text value in at most one row, such as {@code SELECT status FROM
   *     outbox WHERE project_id = :resource_id ORDER BY id DESC LIMIT 1}
   * @throws IllegalArgumentException if the query lacks {@code :resource_id} or has a semicolon
   */
  public static Builder query(String query) {
    return new Builder(query);
  }

  @Override
  public IdempotencyStatus resolve(UUID resourceId) {
    throw new UnsupportedOperationException("an outbox is read by the PostgreSQL store only");
  }

  /** Returns the query with the resource id read from a column. */
  String queryFor(String column) {
    return query.replace(PLACEHOLDER, column);
  }

  /** Maps what the query found: closed, with {@code processing} for whatever is unknown. */
  IdempotencyStatus statusOf(Optional<String> found) {
    if (found.isEmpty()) {
      return absent;
    }
    IdempotencyStatus status = statuses.get(found.get());
    if (status == null) {
      logger.warn("the outbox says \"{}\", which maps to no idempotency status", found.get());
      return IdempotencyStatus.PROCESSING;
    }
    return status;
  }

  /** Maps an outbox's own words to the three statuses. Not thread-safe. */
  public static final class Builder {
    private final String query;
    private final Map<String, IdempotencyStatus> statuses = new HashMap<>();
    private IdempotencyStatus absent = IdempotencyStatus.PROCESSING;

    private Builder(String query) {
      if (!query.contains(PLACEHOLDER) || query.contains(";")) {
        throw new IllegalArgumentException(
            "an outbox query is one SELECT with " + PLACEHOLDER + " and without a semicolon");
      }
      this.query = query;
    }

    /** Adds the outbox's words for one status. */
    public Builder map(IdempotencyStatus status, String... words) {
      for (String word : words) {
        statuses.put(word, status);
      }
      return this;
    }

    /**
     * Says what it means that the resource has no entry; {@code PROCESSING} by default. An outbox
     * that deletes what is done wants {@code COMPLETED}.
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
