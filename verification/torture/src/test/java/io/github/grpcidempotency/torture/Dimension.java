package io.github.grpcidempotency.torture;

import java.util.List;

/**
 * A setting in which server processes can differ. The first value is the ordinary one. A value that
 * is listed twice is chosen twice as often.
 */
enum Dimension {
  /** The isolation of the pool's transactions. */
  ISOLATION("read committed", "read committed", "repeatable read", "serializable"),
  /** The driver's {@code prepareThreshold}; start-up may refuse the forced binary transfer. */
  PREPARE_THRESHOLD("5", "5", "5", "5", "1", "1", "1", "0", "0", "0", "-1"),
  /** The driver's {@code preferQueryMode}; start-up may refuse the simple one. */
  QUERY_MODE(
      "extended",
      "extended",
      "extended",
      "extendedForPrepared",
      "extendedForPrepared",
      "extended",
      "extendedForPrepared",
      "extendedForPrepared",
      "extendedCacheEverything",
      "extendedCacheEverything",
      "extendedCacheEverything",
      "simple"),
  /** The driver's {@code autosave}. */
  AUTOSAVE("never", "never", "conservative", "always"),
  /** The driver's {@code socketTimeout} in seconds: less than a lease, or more. */
  SOCKET_TIMEOUT("4", "1", "8"),
  /** How many milliseconds to wait for a connection of the pool. */
  CONNECTION_TIMEOUT("2000", "1000", "300"),
  /** PostgreSQL's {@code lock_timeout} in milliseconds. */
  LOCK_TIMEOUT("0", "0", "0", "250", "20"),
  /** PostgreSQL's {@code statement_timeout} in milliseconds. */
  STATEMENT_TIMEOUT("0", "0", "0", "1000", "250"),
  /** At how many of a hundred events the listener throws an exception or an error. */
  LISTENER_FAILURES("0", "0", "5"),
  /** How many of a hundred tasks the interceptor's executor rejects. */
  REJECTIONS("0", "0", "5"),
  /** For how many of a thousand connections the pool throws what no pool should throw. */
  POOL_DEFECTS("0", "0", "5"),
  /** How many connections the pool of handlers has. */
  POOL_SIZE("10", "10", "2"),
  /** How many hosts the JDBC URL has; all but the first are down. */
  HOSTS("1", "1", "2"),
  /** The execution of {@code Reserved}: a rolling deployment may change it. */
  EXECUTION("reserved", "reserved", "transactional"),
  /** When {@code Job} and {@code GuardedAttached} are claimed: another deployment may change it. */
  CLAIM_TIMING("BEFORE_HANDLER", "BEFORE_HANDLER", "AT_COMMIT"),
  /** For how many of a hundred answers the function of the resource throws an error. */
  RESOURCE_ERRORS("0", "0", "5");

  @SuppressWarnings("ImmutableEnumChecker") // an immutable list of strings
  private final List<String> choices;

  Dimension(String... choices) {
    this.choices = List.of(choices);
  }

  List<String> choices() {
    return choices;
  }

  String ordinary() {
    return choices.get(0);
  }
}
