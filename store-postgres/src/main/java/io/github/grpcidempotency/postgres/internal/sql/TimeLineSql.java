package io.github.grpcidempotency.postgres.internal.sql;

import java.util.Map;

/**
 * SQL that reads the time line of the database, which changes with every failover.
 *
 * @param current an expression: the time line, or null if the database replicates synchronously, so
 *     that a failover loses nothing
 * @param same a condition: the time line is the same as at the claim
 * @param sameInBatch the same condition in a statement for several claims
 */
public record TimeLineSql(String current, String same, String sameInBatch) {
  public static TimeLineSql of(boolean read) {
    return read
        ? new TimeLineSql(
            SqlFile.load("claim/time_line", Map.of()),
            SqlFile.load("settle/same_time_line", Map.of()),
            SqlFile.load("settle/same_time_line_batch", Map.of()))
        : new TimeLineSql("CAST(NULL AS text)", "", "");
  }
}
