package io.github.grpcidempotency.admin;

import java.sql.Array;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;

/** Maps the rows that the database's functions return. */
final class Rows {
  private static final int TRACEPARENT_BYTES = 26;

  private Rows() {}

  static OperationRecord operation(ResultSet row) throws SQLException {
    return new OperationRecord(
        row.getObject("id", UUID.class),
        row.getString("idempotency_key"),
        row.getObject("user_id", UUID.class),
        row.getString("tenant"),
        row.getString("project"),
        row.getString("procedure"),
        OperationState.valueOf(row.getString("state").toUpperCase(Locale.ROOT)),
        row.getBoolean("outcome_unknown"),
        row.getInt("attempt"),
        text(row, "server"),
        takeovers(row),
        Optional.ofNullable(row.getBytes("trace")).map(Rows::traceparent),
        time(row, "created"),
        optionalTime(row, "lease_expires"),
        optionalTime(row, "completed"),
        time(row, "expires"),
        optionalTime(row, "retained"),
        row.getBoolean("lease_ahead"),
        resource(row),
        row.getLong("answer_bytes"),
        time(row, "read"));
  }

  static RunningTransaction transaction(ResultSet row) throws SQLException {
    return new RunningTransaction(
        Optional.ofNullable(row.getObject("pid", Integer.class)),
        text(row, "application"),
        text(row, "address"),
        optionalTime(row, "since"));
  }

  static Contents contents(ResultSet row) throws SQLException {
    return new Contents(
        Optional.ofNullable(row.getBytes("response_bytes")),
        Optional.ofNullable(row.getBytes("status_bytes")));
  }

  static AuditEntry auditEntry(ResultSet row) throws SQLException {
    return new AuditEntry(
        row.getLong("id"),
        time(row, "at"),
        row.getString("role"),
        text(row, "address"),
        row.getString("actor"),
        row.getString("act"),
        Optional.ofNullable(row.getObject("operation_id", UUID.class)),
        text(row, "procedure"),
        Optional.ofNullable(row.getObject("user_id", UUID.class)),
        Optional.ofNullable(row.getObject("attempt", Integer.class)),
        text(row, "tenant"),
        text(row, "project"),
        Optional.ofNullable(row.getBytes("key_hash")).map(HexFormat.of()::formatHex),
        array(row, "servers"),
        optionalTime(row, "claimed"),
        optionalTime(row, "recorded"),
        row.getBoolean("forced"),
        row.getInt("deleted"),
        actResult(row.getString("result")),
        row.getString("reason"));
  }

  static Statistics statistics(ResultSet row) throws SQLException {
    return new Statistics(
        row.getLong("rows"),
        row.getLong("bytes"),
        inFlight(row),
        row.getLong("expired"),
        row.getBoolean("expired_is_more"),
        millis(row, "sweep_lag_millis"),
        row.getLong("key_locks"));
  }

  static Statistics.OfProcedure procedure(ResultSet row) throws SQLException {
    return new Statistics.OfProcedure(
        row.getString("procedure"),
        row.getLong("records"),
        row.getLong("last_hour"),
        row.getLong("last_day"));
  }

  private static Optional<Statistics.InFlight> inFlight(ResultSet row) throws SQLException {
    long all = row.getLong("in_flight");
    return row.wasNull()
        ? Optional.empty()
        : Optional.of(
            new Statistics.InFlight(
                all,
                row.getLong("stuck"),
                row.getLong("unknown"),
                all == 0 ? Optional.empty() : millis(row, "oldest_in_flight_millis")));
  }

  static ActResult actResult(String word) {
    return ActResult.valueOf(word.toUpperCase(Locale.ROOT));
  }

  /** Reads the servers of earlier attempts, each with the time of its takeover. */
  private static List<OperationRecord.Takeover> takeovers(ResultSet row) throws SQLException {
    List<OperationRecord.Takeover> takeovers = new ArrayList<>();
    List<String> servers = array(row, "former_servers");
    List<String> times = array(row, "taken_over_millis");
    for (int i = 0; i < servers.size(); i++) {
      takeovers.add(
          new OperationRecord.Takeover(
              servers.get(i), Instant.ofEpochMilli(Long.parseLong(times.get(i)))));
    }
    return takeovers;
  }

  private static List<String> array(ResultSet row, String column) throws SQLException {
    Array array = row.getArray(column);
    return array == null
        ? List.of()
        : Arrays.stream((Object[]) array.getArray()).map(String::valueOf).toList();
  }

  private static Optional<OperationRecord.Resource> resource(ResultSet row) throws SQLException {
    String id = row.getString("resource_id");
    return id == null
        ? Optional.empty()
        : Optional.of(new OperationRecord.Resource(row.getString("resource_type"), id));
  }

  /**
   * Returns the W3C {@code traceparent}: version 0, the trace's id, the span's id and the flags.
   */
  private static String traceparent(byte[] trace) {
    String hex = HexFormat.of().formatHex(trace);
    return trace.length == TRACEPARENT_BYTES && trace[0] == 0
        ? String.join(
            "-",
            hex.substring(0, 2),
            hex.substring(2, 34),
            hex.substring(34, 50),
            hex.substring(50))
        : hex;
  }

  private static Optional<String> text(ResultSet row, String column) throws SQLException {
    return Optional.ofNullable(row.getString(column));
  }

  private static Instant time(ResultSet row, String column) throws SQLException {
    return row.getObject(column, OffsetDateTime.class).toInstant();
  }

  private static Optional<Instant> optionalTime(ResultSet row, String column) throws SQLException {
    return Optional.ofNullable(row.getObject(column, OffsetDateTime.class))
        .map(OffsetDateTime::toInstant);
  }

  private static Optional<Duration> millis(ResultSet row, String column) throws SQLException {
    return Optional.ofNullable(row.getObject(column, Long.class)).map(Duration::ofMillis);
  }
}
