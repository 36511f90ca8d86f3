package io.github.grpcidempotency.postgres;

import java.util.Map;

/**
 * How a flush reads the time line of the database, which changes with every failover.
 *
 * @param current returns it, or null if the database replicates synchronously and a failover loses
 *     nothing
 * @param same is a condition: that it is the one of the claim
 */
record TimeLineSql(String current, String same) {
  /** Returns the SQL. */
  static TimeLineSql of(boolean read) {
    return read
        ? new TimeLineSql(
            SqlFile.load("claim/time_line", Map.of()),
            SqlFile.load("settle/same_time_line", Map.of()))
        : new TimeLineSql("CAST(NULL AS text)", "");
  }
}
