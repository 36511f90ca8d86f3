package io.github.grpcidempotency.micrometer;

import static io.github.grpcidempotency.micrometer.MetricTags.CASE;
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
 * Every meter of this module: its name, kind, unit and tags. Dashboards, alerts and the reference
 * page are made from this list or compared with it.
 */
public enum MetricName {
  /** Calls that carry a well-formed key. */
  KEYS_FOUND(
      "idempotency.keys.found",
      Kind.COUNTER,
      "",
      Scope.PROCEDURE,
      "Calls that carry a well-formed key of a known caller",
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
  /** Calls whose source could not give a key. */
  KEY_FAILURES(
      "idempotency.key.failures",
      Kind.COUNTER,
      "",
      Scope.PROCEDURE,
      "Calls whose key source could not tell the key, or could not trust it",
      SOURCE,
      FAILURE),

  /** Claims, and how long they took. */
  CLAIMS(
      "idempotency.claims",
      Kind.TIMER,
      "seconds",
      Scope.PROCEDURE,
      "Claims that were won or found a recorded outcome, and how long they took",
      RESULT),
  /** Claims that took over. */
  TAKEOVERS(
      "idempotency.takeovers",
      Kind.COUNTER,
      "",
      Scope.PROCEDURE,
      "Claims that took over from an owner whose lease had ended"),
  /** Replays. */
  REPLAYS(
      "idempotency.replays",
      Kind.COUNTER,
      "",
      Scope.PROCEDURE,
      "Recorded outcomes that were replayed",
      OUTCOME),
  /** Replays that do not know how far the work behind them is. */
  STATUS_UNKNOWN(
      "idempotency.status.unknown",
      Kind.COUNTER,
      "",
      Scope.PROCEDURE,
      "Replays that could not read the state of the work behind them"),
  /** Replays that could not extend their record's retention. */
  RETENTION_FAILURES(
      "idempotency.retention.failures",
      Kind.COUNTER,
      "",
      Scope.PROCEDURE,
      "Replays whose record keeps the time at which it expires, although it should expire later"),
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

  /** Waits for the call that holds the key. */
  WAITS(
      "idempotency.waits",
      Kind.TIMER,
      "seconds",
      Scope.PROCEDURE,
      "Duplicates that have waited for the call that holds their key, and how long",
      END),
  /** How long handlers ran. */
  HANDLERS(
      "idempotency.handlers",
      Kind.TIMER,
      "seconds",
      Scope.PROCEDURE,
      "Handlers that ran with a claim, and how long"),
  /** Settled claims, and how long it took. */
  SETTLEMENTS(
      "idempotency.settlements",
      Kind.TIMER,
      "seconds",
      Scope.PROCEDURE,
      "Claims that were settled, and how long the settlement took",
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
      "Owners that found their key owned by somebody else"),
  /** Answers left to the background. */
  RECORDINGS_DEFERRED(
      "idempotency.recordings.deferred",
      Kind.COUNTER,
      "",
      Scope.PROCEDURE,
      "Answers that could not be recorded at once"),
  /** Deferred answers that were recorded. */
  RECORDINGS_LATE(
      "idempotency.recordings.late",
      Kind.TIMER,
      "seconds",
      Scope.PROCEDURE,
      "Deferred answers that were recorded, and how long after their handler's end"),
  /** Deferred answers that were given up. */
  RECORDINGS_ABANDONED(
      "idempotency.recordings.abandoned",
      Kind.COUNTER,
      "",
      Scope.PROCEDURE,
      "Answers that were given up: a retry runs the handler again"),

  /** Leases held now. */
  LEASES_HELD(
      "idempotency.leases.held",
      Kind.GAUGE,
      "",
      Scope.PROCESS,
      "Leases that the process holds now"),
  /** Calls that wait now. */
  CALLS_WAITING(
      "idempotency.calls.waiting",
      Kind.GAUGE,
      "",
      Scope.PROCESS,
      "Duplicates that wait now for the end of a running call"),
  /** Age of the oldest call. */
  CALLS_OLDEST(
      "idempotency.calls.oldest",
      Kind.GAUGE,
      "seconds",
      Scope.PROCESS,
      "For how long the oldest call whose handler runs has been running; 0 if none runs"),
  /** Answers that wait now to be recorded. */
  RECORDINGS_WAITING(
      "idempotency.recordings.waiting",
      Kind.GAUGE,
      "",
      Scope.PROCESS,
      "Answers that wait now to be recorded in the background"),
  /** Calls that wait now for an operation. */
  OPERATIONS_WAITING(
      "idempotency.operations.waiting",
      Kind.GAUGE,
      "",
      Scope.PROCESS,
      "Calls that wait now for the end of the work behind an operation"),
  /** Renewals of the leases of a process. */
  RENEWALS(
      "idempotency.renewals",
      Kind.TIMER,
      "seconds",
      Scope.PROCESS,
      "Renewals of all leases of the process, and how long they took"),
  /** Renewals that failed. */
  RENEWAL_FAILURES(
      "idempotency.renewal.failures",
      Kind.COUNTER,
      "",
      Scope.PROCESS,
      "Renewals that failed and are tried again"),
  /** Leases that a renewal found lost. */
  RENEWALS_LOST(
      "idempotency.renewals.lost",
      Kind.COUNTER,
      "",
      Scope.PROCESS,
      "Leases that a renewal found owned by somebody else"),
  /** Sweeps, and how long they took. */
  SWEEPS(
      "idempotency.sweeps",
      Kind.TIMER,
      "seconds",
      Scope.PROCESS,
      "Sweeps of expired records, and how long they took"),
  /** Records that were swept. */
  SWEEP_RECORDS(
      "idempotency.sweep.records",
      Kind.COUNTER,
      "records",
      Scope.PROCESS,
      "Expired records that were deleted"),
  /** How late the last sweep was. */
  SWEEP_LAG(
      "idempotency.sweep.lag",
      Kind.GAUGE,
      "seconds",
      Scope.PROCESS,
      "For how long the oldest record of the last sweep had been expired"),
  /** Sweeps that failed. */
  SWEEP_FAILURES(
      "idempotency.sweep.failures", Kind.COUNTER, "", Scope.PROCESS, "Sweeps that failed"),

  /** Rows of the table. */
  DATABASE_ROWS(
      "idempotency.database.rows",
      Kind.GAUGE,
      "rows",
      Scope.DATABASE,
      "Reservations and records in the table, as the database estimates"),
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
      "Reservations that are not settled"),
  /** Reservations whose lease has ended. */
  DATABASE_STUCK(
      "idempotency.database.stuck",
      Kind.GAUGE,
      "",
      Scope.DATABASE,
      "Reservations whose lease has ended, and that nobody has taken over"),
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
      "Age of the oldest reservation that is not settled; 0 if there is none"),
  /** Expired rows. */
  DATABASE_EXPIRED(
      "idempotency.database.expired",
      Kind.GAUGE,
      "",
      Scope.DATABASE,
      "Expired records that are not swept; 10,000 stands for that many and more"),
  /** How late sweeping is. */
  DATABASE_SWEEP_LAG(
      "idempotency.database.sweep.lag",
      Kind.GAUGE,
      "seconds",
      Scope.DATABASE,
      "For how long the oldest record that is not swept has been expired; 0 if there is none"),
  /** Reads of these figures, and how long they took. */
  DATABASE_READS(
      "idempotency.database.reads",
      Kind.TIMER,
      "seconds",
      Scope.DATABASE,
      "Reads of these figures, and how long they took"),
  /** Reads that failed. */
  DATABASE_READ_FAILURES(
      "idempotency.database.read.failures",
      Kind.COUNTER,
      "",
      Scope.DATABASE,
      "Reads of these figures that failed");

  /** What a meter measures. */
  public enum Kind {
    /** A number that only grows. Prometheus sees {@code …_total}. */
    COUNTER,
    /** A number of events and their durations. Prometheus sees {@code …_seconds_count} and more. */
    TIMER,
    /** A number of this moment. */
    GAUGE
  }

  /** What there is one meter of. */
  public enum Scope {
    /** One for each procedure that was called, and each way in which its calls come in. */
    PROCEDURE(List.of(MetricTags.PROCEDURE, ENTRY, POLICY, CASE, EXECUTION)),
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

  /** Returns the name as Micrometer has it, such as {@code idempotency.keys.found}. */
  public String meter() {
    return meter;
  }

  /** Returns what the meter measures. */
  public Kind kind() {
    return kind;
  }

  /** Returns the unit, such as {@code seconds}; empty for a plain number. */
  public String unit() {
    return unit;
  }

  /** Returns what there is one meter of. */
  public Scope scope() {
    return scope;
  }

  /** Returns what the meter tells, in one line. */
  public String description() {
    return description;
  }

  /** Returns the names of its tags, without those that must be asked for. */
  public List<String> tags() {
    return tags;
  }

  /** Returns the names of the tags that tell its meters of one scope apart. */
  List<String> ownTags() {
    return tags.subList(scope.tags.size(), tags.size());
  }

  /**
   * Returns the name as Prometheus has it, such as {@code idempotency_keys_found_total}. Of a timer
   * there is this name with {@code _count}, {@code _sum} and {@code _max}, and with {@code _bucket}
   * if the registry has histograms.
   */
  public String prometheus() {
    String name = meter.replace('.', '_');
    if (!unit.isEmpty() && !name.endsWith("_" + unit)) {
      name += "_" + unit;
    }
    return kind == Kind.COUNTER ? name + "_total" : name;
  }
}
