package io.github.grpcidempotency.admin;

import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * Which operations to list. What is empty does not restrict.
 *
 * @param states in one of these states; empty for all
 * @param procedure of this procedure
 * @param namespace of this tenant, as {@code acme}, or of this tenant and project, as {@code
 *     acme/apollo}
 * @param userId of this user
 * @param olderThan created at least so long ago
 * @param expiringWithin expiring within this time, and not expired yet
 * @param after only those that follow a page, by its {@link OperationPage#next}; the rest of the
 *     query must be the same
 * @param limit at most so many, from 1 to 1,000
 */
public record OperationQuery(
    Set<OperationState> states,
    Optional<String> procedure,
    Optional<String> namespace,
    Optional<UUID> userId,
    Optional<Duration> olderThan,
    Optional<Duration> expiringWithin,
    Optional<String> after,
    int limit) {
  private static final int MAX_LIMIT = 1_000;
  private static final Pattern TOKEN =
      Pattern.compile("(\\d{1,18}/)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");

  /**
   * Checks the limit, the times and the token.
   *
   * @throws IllegalArgumentException if the limit is not from 1 to 1,000, a time is negative, or
   *     {@code after} is not from an {@link OperationPage} of such a query
   */
  public OperationQuery {
    states = Set.copyOf(states);
    if (limit < 1 || limit > MAX_LIMIT) {
      throw new IllegalArgumentException("a list has a limit of 1 to 1,000, not " + limit);
    }
    if (olderThan.filter(Duration::isNegative).isPresent()
        || expiringWithin.filter(Duration::isNegative).isPresent()) {
      throw new IllegalArgumentException("an age, or a time to expiry, is not negative");
    }
    boolean byExpiry = isByExpiry(states, expiringWithin);
    if (after.isPresent()
        && !(TOKEN.matcher(after.get()).matches() && after.get().contains("/") == byExpiry)) {
      throw new IllegalArgumentException(
          "no page of this query ends with \"%s\"".formatted(after.get()));
    }
  }

  /** Returns a query for the 100 newest operations. */
  public static OperationQuery all() {
    return new OperationQuery(
        Set.of(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        100);
  }

  /** Returns the same query for operations in one of these states. */
  public OperationQuery in(OperationState... oneOf) {
    return new OperationQuery(
        Set.of(oneOf), procedure, namespace, userId, olderThan, expiringWithin, after, limit);
  }

  /** Returns the same query for what follows a page. */
  public OperationQuery after(String next) {
    return new OperationQuery(
        states, procedure, namespace, userId, olderThan, expiringWithin, Optional.of(next), limit);
  }

  /** Whether the list is sorted by expiry, as the database's function sorts it. */
  private static boolean isByExpiry(Set<OperationState> states, Optional<Duration> expiringWithin) {
    boolean inFlight = !states.isEmpty() && states.stream().allMatch(OperationState::isInFlight);
    return !inFlight
        && (expiringWithin.isPresent() || states.equals(Set.of(OperationState.EXPIRED)));
  }
}
