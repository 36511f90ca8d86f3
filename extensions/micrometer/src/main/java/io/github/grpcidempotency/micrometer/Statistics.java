package io.github.grpcidempotency.micrometer;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Objects;
import java.util.function.LongSupplier;
import java.util.regex.Pattern;
import javax.sql.DataSource;

/**
 * The database's figures of the library's table; durations in seconds. NaN means unknown.
 *
 * @param clock the database's time, in seconds, at a moment of the query
 * @param begunNanos when the query began, by the process's clock
 * @param endedNanos when the query ended
 */
record Statistics(
    double rows,
    double deadRows,
    double bytes,
    double inFlight,
    double stuck,
    double unknown,
    double oldestInFlight,
    double expired,
    double sweepLag,
    double clock,
    long begunNanos,
    long endedNanos) {
  private static final double NANOS = 1e9;
  private static final Pattern SCHEMA = Pattern.compile("[a-z_][a-z0-9_]{0,62}");

  /** Returns the statement that reads them from a schema. */
  static String sql(String schema) {
    if (!SCHEMA.matcher(schema).matches()) {
      throw new IllegalArgumentException(
          "the name of a schema must be a plain lower case identifier, not \"" + schema + "\"");
    }
    try (InputStream file = Statistics.class.getResourceAsStream("statistics.sql")) {
      return new String(Objects.requireNonNull(file).readAllBytes(), StandardCharsets.UTF_8)
          .replace("${schema}", schema);
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }

  /** Returns NaN for an unknown value. */
  private static double figure(ResultSet row, String column) throws SQLException {
    double figure = row.getDouble(column);
    return row.wasNull() ? Double.NaN : figure;
  }

  /**
   * Returns by how many seconds the database's clock has jumped since an earlier read: forward if
   * positive; 0 if the durations of the two queries can explain the difference.
   */
  double clockJumpSince(Statistics earlier) {
    double ran = clock - earlier.clock;
    double atLeast = (begunNanos - earlier.endedNanos) / NANOS;
    double atMost = (endedNanos - earlier.begunNanos) / NANOS;
    return ran > atMost ? ran - atMost : Math.min(0, ran - atLeast);
  }

  static Statistics read(DataSource pool, String sql, int timeoutSeconds, LongSupplier nanoClock)
      throws SQLException {
    try (Connection connection = pool.getConnection();
        Statement statement = connection.createStatement()) {
      statement.setQueryTimeout(timeoutSeconds);
      long begun = nanoClock.getAsLong();
      try (ResultSet row = statement.executeQuery(sql)) {
        row.next();
        return new Statistics(
            row.getDouble("rows"),
            row.getDouble("dead_rows"),
            row.getDouble("bytes"),
            figure(row, "in_flight"),
            figure(row, "stuck"),
            figure(row, "unknown"),
            figure(row, "oldest_in_flight_seconds"),
            row.getDouble("expired"),
            row.getDouble("sweep_lag_seconds"),
            row.getDouble("clock_seconds"),
            begun,
            nanoClock.getAsLong());
      }
    }
  }
}
