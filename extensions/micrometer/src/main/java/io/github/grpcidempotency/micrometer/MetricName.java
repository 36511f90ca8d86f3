package io.github.grpcidempotency.micrometer;

import static io.github.grpcidempotency.micrometer.MetricName.Scope.DATABASE;
import static io.github.grpcidempotency.micrometer.MetricName.Scope.PROCEDURE;
import static io.github.grpcidempotency.micrometer.MetricName.Scope.PROCESS;
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
enum MetricName {
  KEYS_FOUND(
      counter(PROCEDURE, "keys.found", SOURCE), "Calls with a well-formed key and a known caller"),
  KEYS_MISSING(counter(PROCEDURE, "keys.missing", REFUSED), "Calls without a key"),
  KEYS_INVALID(counter(PROCEDURE, "keys.invalid", REASON), "Calls with a malformed key"),
  KEY_FAILURES(
      counter(PROCEDURE, "key.failures", SOURCE, FAILURE),
      "Calls whose key source could not read the key, or could not verify it"),
  CLAIMS(
      timer(PROCEDURE, "claims", RESULT),
      "Claims that were won or found a recorded outcome, and their duration"),
  TAKEOVERS(
      counter(PROCEDURE, "takeovers"),
      "Claims that took over an operation from an owner whose lease had ended"),
  REPLAYS(counter(PROCEDURE, "replays", OUTCOME), "Recorded outcomes that were replayed"),
  STATUS_UNKNOWN(
      counter(PROCEDURE, "status.unknown"),
      "Replays that could not read the state of the asynchronous work of their operation"),
  RETENTION_FAILURES(
      counter(PROCEDURE, "retention.failures"),
      "Replays that could not extend the retention of their record, which therefore expires"
          + " earlier than it should"),
  REFUSALS(counter(PROCEDURE, "refusals", REASON, DETAIL), "Calls that were refused"),
  UNPROTECTED(
      counter(PROCEDURE, "unprotected", CAUSE),
      "Calls with a key that ran without the protection of the store"),
  WAITS(
      timer(PROCEDURE, "waits", END),
      "Duplicates that waited for the call that holds their key, and the duration of the wait"),
  HANDLERS(timer(PROCEDURE, "handlers"), "Handlers that ran with a claim, and their duration"),
  SETTLEMENTS(
      timer(PROCEDURE, "settlements", SETTLEMENT),
      "Settled claims, and the duration of the settlement"),
  SETTLEMENT_FAILURES(
      counter(PROCEDURE, "settlement.failures", SETTLEMENT), "Claims that could not be settled"),
  KEYS_FAILING(
      counter(PROCEDURE, "keys.failing"),
      "Failed runs of keys of which nine runs before had failed as well, in a row"),
  LEASES_LOST(
      counter(PROCEDURE, "leases.lost"), "Owners that found their key owned by another call"),
  RECORDINGS_DEFERRED(
      counter(PROCEDURE, "recordings.deferred"),
      "Answers that could not be recorded at once and are retried in the background"),
  RECORDINGS_LATE(
      timer(PROCEDURE, "recordings.late"),
      "Answers that were recorded in the background, and the time since the end of their handler"),
  RECORDINGS_ABANDONED(
      counter(PROCEDURE, "recordings.abandoned"),
      "Answers whose recording was given up: a retry runs the handler again"),
  LEASES_HELD(gauge(PROCESS, "leases.held"), "Leases that the process currently holds"),
  CALLS_WAITING(
      gauge(PROCESS, "calls.waiting"),
      "Duplicates that currently wait for the end of a running call"),
  CALLS_OLDEST(
      gauge(PROCESS, "calls.oldest").in("seconds"),
      "Running time of the oldest call whose handler is running; 0 if none is running"),
  RECORDINGS_WAITING(
      gauge(PROCESS, "recordings.waiting"),
      "Answers that currently wait to be recorded in the background"),
  CONNECTIONS_USED(
      gauge(PROCESS, "connections.used"), "The store's own connections in use, of four"),
  CONNECTIONS_WAITING(
      gauge(PROCESS, "connections.waiting"),
      "Threads that currently wait for one of the store's own connections"),
  BATCHES(
      counter(PROCESS, "batches"), "Statements that the store has sent for several calls at once"),
  BATCH_CALLS(
      timer(PROCESS, "batch.calls"),
      "Calls in such statements, and how long each waited for an earlier statement to end"),
  RENEWALS(timer(PROCESS, "renewals"), "Renewals of all leases of the process, and their duration"),
  RENEWAL_FAILURES(counter(PROCESS, "renewal.failures"), "Renewals that failed and are retried"),
  RENEWALS_LOST(
      counter(PROCESS, "renewals.lost"), "Leases that a renewal found owned by another call"),
  SWEEPS(timer(PROCESS, "sweeps"), "Sweeps of expired records, and their duration"),
  SWEEP_RECORDS(
      counter(PROCESS, "sweep.records").in("records"), "Expired records that were deleted"),
  SWEEP_LAG(
      gauge(PROCESS, "sweep.lag").in("seconds"),
      "Time since the expiry of the oldest record of the last sweep"),
  SWEEP_FAILURES(counter(PROCESS, "sweep.failures"), "Sweeps that failed"),
  DATABASE_ROWS(
      gauge(DATABASE, "database.rows").in("rows"),
      "Reservations and records in the table, as estimated by the database"),
  DATABASE_DEAD_ROWS(
      gauge(DATABASE, "database.dead").in("rows"),
      "Deleted and replaced versions of rows that vacuum has not removed, as estimated by the"
          + " database"),
  DATABASE_SIZE(gauge(DATABASE, "database.size").in("bytes"), "Size of the table with its indexes"),
  DATABASE_IN_FLIGHT(
      gauge(DATABASE, "database.in.flight"), "Reservations that are not settled yet"),
  DATABASE_STUCK(
      gauge(DATABASE, "database.stuck"),
      "Reservations whose lease has ended and that no call has taken over"),
  DATABASE_UNKNOWN(
      gauge(DATABASE, "database.unknown"),
      "Reservations whose handler has ended with an unknown outcome"),
  DATABASE_OLDEST(
      gauge(DATABASE, "database.oldest.in.flight").in("seconds"),
      "Age of the oldest reservation that is not settled yet; 0 if there is none"),
  DATABASE_EXPIRED(
      gauge(DATABASE, "database.expired"),
      "Expired records that are not swept yet; 10,000 means at least 10,000"),
  DATABASE_SWEEP_LAG(
      gauge(DATABASE, "database.sweep.lag").in("seconds"),
      "Time since the expiry of the oldest record that is not swept yet; 0 if there is none"),
  DATABASE_CLOCK_JUMPS(
      counter(DATABASE, "database.clock.jumps").in("seconds"),
      "Seconds by which the database's clock has jumped, forward or back, between two reads"),
  WORK_UNFINISHED(
      gauge(DATABASE, "work.unfinished", MetricTags.PROCEDURE),
      "Recorded answers whose asynchronous work is not finished; at least so many if there are many"),
  WORK_OLDEST(
      gauge(DATABASE, "work.oldest", MetricTags.PROCEDURE).in("seconds"),
      "Age of the oldest recorded answer whose asynchronous work is not finished; 0 if there is none"),
  DATABASE_READS(
      timer(DATABASE, "database.reads"), "Reads of the database's figures, and their duration"),
  DATABASE_READ_FAILURES(
      counter(DATABASE, "database.read.failures"), "Reads of the database's figures that failed");

  /** The kind of a meter. */
  enum Kind {
    COUNTER,
    TIMER,
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

  /** All of a meter but its description. */
  private record Form(Scope scope, Kind kind, String meter, String unit, List<String> tags) {
    Form in(String other) {
      return new Form(scope, kind, meter, other, tags);
    }
  }

  @SuppressWarnings("ImmutableEnumChecker") // a record with an unmodifiable list
  private final Form form;

  private final String description;

  MetricName(Form form, String description) {
    this.form = form;
    this.description = description;
  }

  private static Form counter(Scope scope, String meter, String... tags) {
    return form(scope, Kind.COUNTER, meter, "", tags);
  }

  private static Form timer(Scope scope, String meter, String... tags) {
    return form(scope, Kind.TIMER, meter, "seconds", tags);
  }

  private static Form gauge(Scope scope, String meter, String... tags) {
    return form(scope, Kind.GAUGE, meter, "", tags);
  }

  private static Form form(Scope scope, Kind kind, String meter, String unit, String... tags) {
    return new Form(
        scope,
        kind,
        "idempotency." + meter,
        unit,
        Stream.concat(scope.tags.stream(), Stream.of(tags)).toList());
  }

  /** Returns the name in Micrometer, such as {@code idempotency.keys.found}. */
  String meter() {
    return form.meter();
  }

  Kind kind() {
    return form.kind();
  }

  /** Returns the unit, such as {@code seconds}; empty for a plain number. */
  String unit() {
    return form.unit();
  }

  String description() {
    return description;
  }

  /** Returns the names of its tags, without the optional tags. */
  List<String> tags() {
    return form.tags();
  }

  /** Returns the names of the tags that distinguish its meters within one scope. */
  List<String> ownTags() {
    return tags().subList(form.scope().tags.size(), tags().size());
  }

  /**
   * Returns the name in Prometheus, such as {@code idempotency_keys_found_total}. A timer has this
   * name with {@code _count}, {@code _sum} and {@code _max}, and with {@code _bucket} if the
   * registry has histograms.
   */
  String prometheus() {
    String name = meter().replace('.', '_');
    if (!unit().isEmpty() && !name.endsWith("_" + unit())) {
      name += "_" + unit();
    }
    return kind() == Kind.COUNTER ? name + "_total" : name;
  }
}
