package io.github.grpcidempotency.micrometer;

import static io.github.grpcidempotency.micrometer.MetricTags.CAUSE;
import static io.github.grpcidempotency.micrometer.MetricTags.DETAIL;
import static io.github.grpcidempotency.micrometer.MetricTags.END;
import static io.github.grpcidempotency.micrometer.MetricTags.ENTRY;
import static io.github.grpcidempotency.micrometer.MetricTags.EXECUTION;
import static io.github.grpcidempotency.micrometer.MetricTags.FAILURE;
import static io.github.grpcidempotency.micrometer.MetricTags.OUTCOME;
import static io.github.grpcidempotency.micrometer.MetricTags.POLICY;
import static io.github.grpcidempotency.micrometer.MetricTags.REASON;
import static io.github.grpcidempotency.micrometer.MetricTags.REFUSED;
import static io.github.grpcidempotency.micrometer.MetricTags.RESULT;
import static io.github.grpcidempotency.micrometer.MetricTags.SCHEMA;
import static io.github.grpcidempotency.micrometer.MetricTags.SETTLEMENT;
import static io.github.grpcidempotency.micrometer.MetricTags.SOURCE;

import java.util.List;
import java.util.stream.Stream;

/**
 * Every meter of this module: its name, kind, unit and tags. Tests compare dashboards, alerts and
 * the reference page with this list.
 */
public enum MetricName {
  /** Calls that carry a well-formed key. */
  KEYS_FOUND(
      "idempotency.keys.found",
      Kind.COUNTER,
      "",
      Scope.PROCEDURE,
      "Calls with a well-formed key and a known caller",
      SOURCE),
  /** Calls without a key. */
  KEYS_MISSING(
      "idempotency.keys.missing",
      Kind.COUNTER,
      "",
      Scope.PROCEDURE,
      "Calls without a key",
      REFUSED),
  /** Calls with a malformed key. */
  KEYS_INVALID(
      "idempotency.keys.invalid",
      Kind.COUNTER,
      "",
      Scope.PROCEDURE,
      "Calls with a malformed key",
      REASON),
  /** Calls whose key source returned no key. */
  KEY_FAILURES(
      "idempotency.key.failures",
      Kind.COUNTER,
      "",
      Scope.PROCEDURE,
      "Calls whose key source could not read the key, or could not verify it",
      SOURCE,
      FAILURE),

  /** Claims, and their duration. */
  CLAIMS(
      "idempotency.claims",
      Kind.TIMER,
      "seconds",
      Scope.PROCEDURE,
      "Claims that were won or found a recorded outcome, and their duration",
      RESULT),
  /** Claims that took over an operation. */
  TAKEOVERS(
      "idempotency.takeovers",
      Kind.COUNTER,
      "",
      Scope.PROCEDURE,
      "Claims that took over an operation from an owner whose lease had ended"),
  /** Replays. */
  REPLAYS(
      "idempotency.replays",
      Kind.COUNTER,
      "",
      Scope.PROCEDURE,
      "Recorded outcomes that were replayed",
      OUTCOME),
  /** Replays without a known state of the asynchronous work. */
  STATUS_UNKNOWN(
      "idempotency.status.unknown",
      Kind.COUNTER,
      "",
      Scope.PROCEDURE,
      "Replays that could not read the state of the asynchronous work of their operation"),
  /** Replays that could not extend their record's retention. */
  RETENTION_FAILURES(
      "idempotency.retention.failures",
      Kind.COUNTER,
      "",
      Scope.PROCEDURE,
      "Replays that could not extend the retention of their record, which therefore expires"
          + " earlier than it should"),
  /** Refused calls. */
  REFUSALS(
      "idempotency.refusals",
      Kind.COUNTER,
      "",
      Scope.PROCEDURE,
      "Calls that were refused",
      REASON,
      DETAIL),
  /** Calls with a key that ran without protection. */
  UNPROTECTED(
      "idempotency.unprotected",
      Kind.COUNTER,
      "",
      Scope.PROCEDURE,
      "Calls with a key that ran without the protection of the store",
      CAUSE),

  /** Duplicates that waited, and their wait. */
  WAITS(
      "idempotency.waits",
      Kind.TIMER,
      "seconds",
      Scope.PROCEDURE,
      "Duplicates that waited for the call that holds their key, and the duration of the wait",
      END),
  /** Handlers that ran with a claim, and their duration. */
  HANDLERS(
      "idempotency.handlers",
      Kind.TIMER,
      "seconds",
      Scope.PROCEDURE,
      "Handlers that ran with a claim, and their duration"),
  /** Settled claims, and the duration of the settlement. */
  SETTLEMENTS(
      "idempotency.settlements",
      Kind.TIMER,
      "seconds",
      Scope.PROCEDURE,
      "Settled claims, and the duration of the settlement",
      SETTLEMENT),
  /** Claims that could not be settled. */
  SETTLEMENT_FAILURES(
      "idempotency.settlement.failures",
      Kind.COUNTER,
      "",
      Scope.PROCEDURE,
      "Claims that could not be settled",
      SETTLEMENT),

  /** Leases that were lost. */
  LEASES_LOST(
      "idempotency.leases.lost",
      Kind.COUNTER,
      "",
      Scope.PROCEDURE,
      "Owners that found their key owned by another call"),
  /** Answers that could not be recorded at once. */
  RECORDINGS_DEFERRED(
      "idempotency.recordings.deferred",
      Kind.COUNTER,
      "",
      Scope.PROCEDURE,
      "Answers that could not be recorded at once and are retried in the background"),
  /** Deferred answers that were recorded. */
  RECORDINGS_LATE(
      "idempotency.recordings.late",
      Kind.TIMER,
      "seconds",
      Scope.PROCEDURE,
      "Answers that were recorded in the background, and the time since the end of their"
          + " handler"),
  /** Answers whose recording was given up. */
  RECORDINGS_ABANDONED(
      "idempotency.recordings.abandoned",
      Kind.COUNTER,
      "",
      Scope.PROCEDURE,
      "Answers whose recording was given up: a retry runs the handler again"),

  /** Leases held now. */
  LEASES_HELD(
      "idempotency.leases.held",
      Kind.GAUGE,
      "",
      Scope.PROCESS,
      "Leases that the process currently holds"),
  /** Calls that currently wait. */
  CALLS_WAITING(
      "idempotency.calls.waiting",
      Kind.GAUGE,
      "",
      Scope.PROCESS,
      "Duplicates that currently wait for the end of a running call"),
  /** Age of the oldest running call. */
  CALLS_OLDEST(
      "idempotency.calls.oldest",
      Kind.GAUGE,
      "seconds",
      Scope.PROCESS,
      "Running time of the oldest call whose handler is running; 0 if none is running"),
  /** Answers that currently wait to be recorded. */
  RECORDINGS_WAITING(
      "idempotency.recordings.waiting",
      Kind.GAUGE,
      "",
      Scope.PROCESS,
      "Answers that currently wait to be recorded in the background"),
  /** Calls that currently wait for an operation. */
  OPERATIONS_WAITING(
      "idempotency.operations.waiting",
      Kind.GAUGE,
      "",
      Scope.PROCESS,
      "Calls that currently wait for the end of an operation's asynchronous work"),
  /** Statements for several calls. */
  BATCHES(
      "idempotency.batches",
      Kind.COUNTER,
      "",
      Scope.PROCESS,
      "Statements that the store has sent for several calls at once"),
  /** Calls in statements for several calls, and their time in the queue. */
  BATCH_CALLS(
      "idempotency.batch.calls",
      Kind.TIMER,
      "seconds",
      Scope.PROCESS,
      "Calls in such statements, and how long each waited for an earlier statement to end"),
  /** Renewals of the leases of a process, and their duration. */
  RENEWALS(
      "idempotency.renewals",
      Kind.TIMER,
      "seconds",
      Scope.PROCESS,
      "Renewals of all leases of the process, and their duration"),
  /** Renewals that failed. */
  RENEWAL_FAILURES(
      "idempotency.renewal.failures",
      Kind.COUNTER,
      "",
      Scope.PROCESS,
      "Renewals that failed and are retried"),
  /** Leases that a renewal found owned by another call. */
  RENEWALS_LOST(
      "idempotency.renewals.lost",
      Kind.COUNTER,
      "",
      Scope.PROCESS,
      "Leases that a renewal found owned by another call"),
  /** Sweeps, and their duration. */
  SWEEPS(
      "idempotency.sweeps",
      Kind.TIMER,
      "seconds",
      Scope.PROCESS,
      "Sweeps of expired records, and their duration"),
  /** Records that were swept. */
  SWEEP_RECORDS(
      "idempotency.sweep.records",
      Kind.COUNTER,
      "records",
      Scope.PROCESS,
      "Expired records that were deleted"),
  /** Lag of the last sweep. */
  SWEEP_LAG(
      "idempotency.sweep.lag",
      Kind.GAUGE,
      "seconds",
      Scope.PROCESS,
      "Time since the expiry of the oldest record of the last sweep"),
  /** Sweeps that failed. */
  SWEEP_FAILURES(
      "idempotency.sweep.failures", Kind.COUNTER, "", Scope.PROCESS, "Sweeps that failed"),

  /** Rows of the table. */
  DATABASE_ROWS(
      "idempotency.database.rows",
      Kind.GAUGE,
      "rows",
      Scope.DATABASE,
      "Reservations and records in the table, as estimated by the database"),
  /** Deleted and replaced versions of rows that are still in the table. */
  DATABASE_DEAD_ROWS(
      "idempotency.database.dead",
      Kind.GAUGE,
      "rows",
      Scope.DATABASE,
      "Deleted and replaced versions of rows that vacuum has not removed, as estimated by the"
          + " database"),
  /** Bytes of the table. */
  DATABASE_SIZE(
      "idempotency.database.size",
      Kind.GAUGE,
      "bytes",
      Scope.DATABASE,
      "Size of the table with its indexes"),
  /** Reservations. */
  DATABASE_IN_FLIGHT(
      "idempotency.database.in.flight",
      Kind.GAUGE,
      "",
      Scope.DATABASE,
      "Reservations that are not settled yet"),
  /** Reservations whose lease has ended. */
  DATABASE_STUCK(
      "idempotency.database.stuck",
      Kind.GAUGE,
      "",
      Scope.DATABASE,
      "Reservations whose lease has ended and that no call has taken over"),
  /** Operations whose outcome is unknown. */
  DATABASE_UNKNOWN(
      "idempotency.database.unknown",
      Kind.GAUGE,
      "",
      Scope.DATABASE,
      "Reservations whose handler has ended with an unknown outcome"),
  /** Age of the oldest reservation. */
  DATABASE_OLDEST(
      "idempotency.database.oldest.in.flight",
      Kind.GAUGE,
      "seconds",
      Scope.DATABASE,
      "Age of the oldest reservation that is not settled yet; 0 if there is none"),
  /** Expired rows. */
  DATABASE_EXPIRED(
      "idempotency.database.expired",
      Kind.GAUGE,
      "",
      Scope.DATABASE,
      "Expired records that are not swept yet; 10,000 means at least 10,000"),
  /** Lag of the sweeps. */
  DATABASE_SWEEP_LAG(
      "idempotency.database.sweep.lag",
      Kind.GAUGE,
      "seconds",
      Scope.DATABASE,
      "Time since the expiry of the oldest record that is not swept yet; 0 if there is none"),
  /** Jumps of the database's clock. */
  DATABASE_CLOCK_JUMPS(
      "idempotency.database.clock.jumps",
      Kind.COUNTER,
      "seconds",
      Scope.DATABASE,
      "Seconds by which the database's clock has jumped, forward or back, between two reads"),
  /** Reads of the database's figures, and their duration. */
  DATABASE_READS(
      "idempotency.database.reads",
      Kind.TIMER,
      "seconds",
      Scope.DATABASE,
      "Reads of the database's figures, and their duration"),
  /** Reads of the database's figures that failed. */
  DATABASE_READ_FAILURES(
      "idempotency.database.read.failures",
      Kind.COUNTER,
      "",
      Scope.DATABASE,
      "Reads of the database's figures that failed");

  /** The kind of a meter. */
  public enum Kind {
    /** A number that only grows. Prometheus sees {@code …_total}. */
    COUNTER,
    /** A number of events and their durations. Prometheus sees {@code …_seconds_count} and more. */
    TIMER,
    /** A current value. */
    GAUGE
  }

  /** The unit for which there is one meter. */
  enum Scope {
    /** One for each procedure that was called, and each way in which its calls arrive. */
    PROCEDURE(List.of(MetricTags.PROCEDURE, ENTRY, POLICY, EXECUTION)),
    /** One for the process. */
    PROCESS(List.of()),
    /** One for each schema; every process of a service exports the same numbers. */
    DATABASE(List.of(SCHEMA));

    @SuppressWarnings("ImmutableEnumChecker") // an unmodifiable list
    private final List<String> tags;

    Scope(List<String> tags) {
      this.tags = tags;
    }
  }

  private final String meter;
  private final Kind kind;
  private final String unit;
  private final Scope scope;
  private final String description;

  @SuppressWarnings("ImmutableEnumChecker") // an unmodifiable list
  private final List<String> tags;

  MetricName(
      String meter, Kind kind, String unit, Scope scope, String description, String... tags) {
    this.meter = meter;
    this.kind = kind;
    this.unit = unit;
    this.scope = scope;
    this.description = description;
    this.tags = Stream.concat(scope.tags.stream(), Stream.of(tags)).toList();
  }

  /** Returns the name in Micrometer, such as {@code idempotency.keys.found}. */
  public String meter() {
    return meter;
  }

  /** Returns the kind. */
  public Kind kind() {
    return kind;
  }

  /** Returns the unit, such as {@code seconds}; empty for a plain number. */
  String unit() {
    return unit;
  }

  /** Returns the description, in one line. */
  String description() {
    return description;
  }

  /** Returns the names of its tags, without the optional tags. */
  public List<String> tags() {
    return tags;
  }

  /** Returns the names of the tags that distinguish its meters within one scope. */
  List<String> ownTags() {
    return tags.subList(scope.tags.size(), tags.size());
  }

  /**
   * Returns the name in Prometheus, such as {@code idempotency_keys_found_total}. A timer has this
   * name with {@code _count}, {@code _sum} and {@code _max}, and with {@code _bucket} if the
   * registry has histograms.
   */
  public String prometheus() {
    String name = meter.replace('.', '_');
    if (!unit.isEmpty() && !name.endsWith("_" + unit)) {
      name += "_" + unit;
    }
    return kind == Kind.COUNTER ? name + "_total" : name;
  }
}
