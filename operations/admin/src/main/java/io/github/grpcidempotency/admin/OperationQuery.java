package io.github.grpcidempotency.admin;

import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * Restricts the list of operations. An empty value does not restrict.
 *
 * @param states only operations in one of these states; empty for all
 * @param procedure only operations of this procedure
 * @param scope only operations of these tenants and projects
 * @param userId only operations of this user
 * @param server only operations that this server holds or held last
 * @param olderThan only operations that were created at least this time ago
 * @param newerThan only operations that were created at most this time ago
 * @param expiringWithin only operations that have not expired and expire within this time
 * @param after only operations after a page, by its {@link OperationPage#next}; the rest of the
 *     query must be the same
 * @param limit the maximum number, from 1 to 1,000
 */
public record OperationQuery(
    Set<OperationState> states,
    Optional<String> procedure,
    Scope scope,
    Optional<UUID> userId,
    Optional<String> server,
    Optional<Duration> olderThan,
    Optional<Duration> newerThan,
    Optional<Duration> expiringWithin,
    Optional<String> after,
    int limit) {
  static final int MAX_LIMIT = 1_000;
  private static final Pattern TOKEN =
      Pattern.compile("(\\d{1,18}/)?[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");

  /**
   * Checks the limit, the durations and the token.
   *
   * @throws IllegalArgumentException if the limit is not from 1 to 1,000, a duration is negative,
   *     or {@code after} does not come from an {@link OperationPage} of the same query
   */
  public OperationQuery {
    states = Set.copyOf(states);
    if (limit < 1 || limit > MAX_LIMIT) {
      throw new IllegalArgumentException("the limit of a list must be 1 to 1,000, not " + limit);
    }
    if (olderThan.filter(Duration::isNegative).isPresent()
        || newerThan.filter(Duration::isNegative).isPresent()
        || expiringWithin.filter(Duration::isNegative).isPresent()) {
      throw new IllegalArgumentException("a duration must not be negative");
    }
    boolean byExpiry = isByExpiry(states, expiringWithin);
    if (after.isPresent()
        && !(TOKEN.matcher(after.get()).matches() && after.get().contains("/") == byExpiry)) {
      throw new IllegalArgumentException(
          "the token \"%s\" is not from a page of the same query".formatted(after.get()));
    }
  }

  /** Returns a query for the 100 newest operations. */
  public static OperationQuery all() {
    return all(Scope.ALL, 100);
  }

  /** Returns a query for the newest operations of tenants and projects. */
  static OperationQuery all(Scope scope, int limit) {
    return new OperationQuery(
        Set.of(),
        Optional.empty(),
        scope,
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        Optional.empty(),
        limit);
  }

  /** Returns a copy that is restricted to these states. */
  public OperationQuery in(OperationState... oneOf) {
    return new OperationQuery(
        Set.of(oneOf),
        procedure,
        scope,
        userId,
        server,
        olderThan,
        newerThan,
        expiringWithin,
        after,
        limit);
  }

  /** Returns a copy that is restricted to a server. */
  public OperationQuery on(String oneServer) {
    return new OperationQuery(
        states,
        procedure,
        scope,
        userId,
        Optional.of(oneServer),
        olderThan,
        newerThan,
        expiringWithin,
        after,
        limit);
  }

  /** Returns a copy for the operations after a page. */
  public OperationQuery after(String next) {
    return new OperationQuery(
        states,
        procedure,
        scope,
        userId,
        server,
        olderThan,
        newerThan,
        expiringWithin,
        Optional.of(next),
        limit);
  }

  /** Returns whether the database's function sorts the list by expiry. */
  private static boolean isByExpiry(Set<OperationState> states, Optional<Duration> expiringWithin) {
    boolean inFlight = !states.isEmpty() && states.stream().allMatch(OperationState::isInFlight);
    return !inFlight
        && (expiringWithin.isPresent() || states.equals(Set.of(OperationState.EXPIRED)));
  }
}
