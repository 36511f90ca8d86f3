package io.github.grpcidempotency.micrometer.monitoring;

import static io.github.grpcidempotency.micrometer.monitoring.Promql.is;
import static io.github.grpcidempotency.micrometer.monitoring.Promql.oneOf;
import static io.github.grpcidempotency.micrometer.monitoring.Promql.select;

import io.github.grpcidempotency.event.RefusalReason;
import io.github.grpcidempotency.micrometer.MetricName;
import io.github.grpcidempotency.micrometer.MetricName.Scope;
import io.github.grpcidempotency.micrometer.MetricTags;
import io.github.grpcidempotency.micrometer.monitoring.Panel.Query;
import io.github.grpcidempotency.micrometer.monitoring.Panel.Unit;
import java.util.List;

/** What the dashboard shows. Three charts stand side by side. */
final class Panels {
  /** Charts under a heading. */
  record Row(String title, List<Panel> panels) {
    Row(String title, Panel... panels) {
      this(title, List.of(panels));
    }
  }

  private static final String SERVERS =
      oneOf("job", "$job") + ", " + oneOf("instance", "$instance");
  private static final String WINDOW = "[$__rate_interval]";

  private Panels() {}

  static List<Row> rows() {
    return List.of(
        traffic(), refusals(), leases(), recordings(), waits(), durations(), database(), exposed());
  }

  private static Row traffic() {
    return new Row(
        "Traffic and replays",
        new Panel(
            "Calls by kind of key",
            "Calls with a well-formed key, by where it comes from, and calls without one.",
            Unit.PER_SECOND,
            new Query("{{case}}", perSecond(MetricName.KEYS_FOUND, MetricTags.CASE)),
            new Query("no key", perSecond(MetricName.KEYS_MISSING))),
        new Panel(
            "Claims",
            "Calls that won the right to run, and calls that found a recorded outcome.",
            Unit.PER_SECOND,
            new Query("{{result}}", perSecond(MetricName.CLAIMS, MetricTags.RESULT))),
        new Panel(
            "Share of replays",
            "Of all claims, by procedure. A sudden drop means that retries no longer find their"
                + " records.",
            Unit.SHARE,
            new Query(
                "{{procedure}}",
                "%s / %s"
                    .formatted(
                        perSecond(MetricName.REPLAYS, MetricTags.PROCEDURE),
                        perSecond(MetricName.CLAIMS, MetricTags.PROCEDURE)))));
  }

  private static Row refusals() {
    return new Row(
        "Refusals",
        new Panel(
            "Refused calls by reason",
            "The reason is what the client gets as ErrorInfo.reason.",
            Unit.PER_MINUTE,
            new Query("{{reason}}", perMinute(MetricName.REFUSALS, MetricTags.REASON))),
        new Panel(
            "Reused keys",
            "A key that was used before, for another request or another procedure: a client's bug.",
            Unit.PER_MINUTE,
            new Query(
                "{{procedure}} {{detail}}",
                perMinute(
                    MetricName.REFUSALS,
                    is(MetricTags.REASON, RefusalReason.IDEMPOTENCY_KEY_REUSED.name()),
                    MetricTags.PROCEDURE,
                    MetricTags.DETAIL))),
        new Panel(
            "Malformed keys and failed sources",
            "What is wrong with a key, and sources that could not tell it or could not trust it.",
            Unit.PER_MINUTE,
            new Query("invalid: {{reason}}", perMinute(MetricName.KEYS_INVALID, MetricTags.REASON)),
            new Query(
                "{{source}}: {{failure}}",
                perMinute(MetricName.KEY_FAILURES, MetricTags.SOURCE, MetricTags.FAILURE))));
  }

  private static Row leases() {
    return new Row(
        "Leases and takeovers",
        new Panel(
            "Leases held",
            "Reserved calls that run now, by server.",
            Unit.NUMBER,
            new Query("{{instance}}", now("sum", MetricName.LEASES_HELD, "instance"))),
        new Panel(
            "Oldest call",
            "A handler that never answers holds a connection or a key until it is given up.",
            Unit.SECONDS,
            new Query("{{instance}}", now("max", MetricName.CALLS_OLDEST, "instance"))),
        new Panel(
            "Takeovers and lost leases",
            "A takeover follows a crash. A lost lease means that an owner was too slow to renew"
                + " it.",
            Unit.PER_MINUTE,
            new Query("taken over", perMinute(MetricName.TAKEOVERS)),
            new Query("lost", perMinute(MetricName.LEASES_LOST)),
            new Query("found lost by a renewal", perMinute(MetricName.RENEWALS_LOST))),
        new Panel(
            "Renewals",
            "Each server renews all its leases at once. Failures that last longer than a lease lose"
                + " it.",
            Unit.PER_MINUTE,
            new Query("renewed", perMinute(MetricName.RENEWALS)),
            new Query("failed", perMinute(MetricName.RENEWAL_FAILURES))));
  }

  private static Row recordings() {
    return new Row(
        "Late recordings",
        new Panel(
            "Answers that wait to be recorded",
            "Their effects have happened, and their records are not yet written. By server.",
            Unit.NUMBER,
            new Query("{{instance}}", now("sum", MetricName.RECORDINGS_WAITING, "instance"))),
        new Panel(
            "Late recordings",
            "An abandoned answer is lost: a retry runs its handler again.",
            Unit.PER_MINUTE,
            new Query("settlement failed", perMinute(MetricName.SETTLEMENT_FAILURES)),
            new Query("deferred", perMinute(MetricName.RECORDINGS_DEFERRED)),
            new Query("recorded late", perMinute(MetricName.RECORDINGS_LATE)),
            new Query("abandoned", perMinute(MetricName.RECORDINGS_ABANDONED))),
        new Panel(
            "How late",
            "From the end of the handler to the record.",
            Unit.SECONDS,
            durations(MetricName.RECORDINGS_LATE)));
  }

  private static Row waits() {
    return new Row(
        "Waits",
        new Panel(
            "Calls that wait",
            "Duplicates that wait for a running call, and calls that wait for the work behind an"
                + " operation.",
            Unit.NUMBER,
            new Query("for a running call", now("sum", MetricName.CALLS_WAITING)),
            new Query("for an operation", now("sum", MetricName.OPERATIONS_WAITING))),
        new Panel(
            "Ended waits",
            "By how they ended. Those that gave up were refused.",
            Unit.PER_MINUTE,
            new Query("{{end}}", perMinute(MetricName.WAITS, MetricTags.END))),
        new Panel(
            "How long they waited",
            "Waits for a running call.",
            Unit.SECONDS,
            durations(MetricName.WAITS)));
  }

  private static Row durations() {
    return new Row(
        "Durations",
        new Panel(
            "Claim",
            "One round trip to the database, or more after a conflict.",
            Unit.SECONDS,
            durations(MetricName.CLAIMS)),
        new Panel(
            "Handler", "The service's own code.", Unit.SECONDS, durations(MetricName.HANDLERS)),
        new Panel(
            "Settlement",
            "Recording the answer, with its commit.",
            Unit.SECONDS,
            durations(MetricName.SETTLEMENTS)));
  }

  private static Row database() {
    return new Row(
        "Database and sweep",
        new Panel(
            "Records",
            "All, as the database estimates, and those that are expired and not yet swept.",
            Unit.NUMBER,
            new Query("all", now("max", MetricName.DATABASE_ROWS)),
            new Query("expired", now("max", MetricName.DATABASE_EXPIRED))),
        new Panel(
            "Size",
            "The table with its indexes.",
            Unit.BYTES,
            new Query("table and indexes", now("max", MetricName.DATABASE_SIZE))),
        new Panel(
            "Reservations",
            "In flight; stuck, because the lease has ended and nobody has taken over; of unknown"
                + " outcome.",
            Unit.NUMBER,
            new Query("in flight", now("max", MetricName.DATABASE_IN_FLIGHT)),
            new Query("stuck", now("max", MetricName.DATABASE_STUCK)),
            new Query("unknown", now("max", MetricName.DATABASE_UNKNOWN))),
        new Panel(
            "Ages",
            "Of the oldest reservation, and for how long the oldest expired record has been"
                + " expired.",
            Unit.SECONDS,
            new Query("oldest reservation", now("max", MetricName.DATABASE_OLDEST)),
            new Query("oldest expired record", now("max", MetricName.DATABASE_SWEEP_LAG)),
            new Query("at the last sweep", now("max", MetricName.SWEEP_LAG))),
        new Panel(
            "Swept records, and failures",
            "Failed sweeps, and failed reads of the figures of this row.",
            Unit.PER_MINUTE,
            new Query("swept", perMinute(MetricName.SWEEP_RECORDS)),
            new Query("failed sweeps", perMinute(MetricName.SWEEP_FAILURES)),
            new Query("failed reads", perMinute(MetricName.DATABASE_READ_FAILURES))),
        new Panel(
            "Maintenance",
            "How long a renewal, a sweep, and a read of these figures take; the longest of late.",
            Unit.SECONDS,
            new Query("renewal", longest(MetricName.RENEWALS)),
            new Query("sweep", longest(MetricName.SWEEPS)),
            new Query("read", longest(MetricName.DATABASE_READS))));
  }

  private static Row exposed() {
    return new Row(
        "Unprotected calls",
        new Panel(
            "Unprotected calls by cause",
            "Calls that carry a key and run all the same without the store: they may run twice.",
            Unit.PER_MINUTE,
            new Query("{{cause}}", perMinute(MetricName.UNPROTECTED, MetricTags.CAUSE))),
        new Panel(
            "Unprotected calls by procedure",
            "The same calls.",
            Unit.PER_MINUTE,
            new Query("{{procedure}}", perMinute(MetricName.UNPROTECTED, MetricTags.PROCEDURE))),
        new Panel(
            "Incomplete replays",
            "They say processing, because the state of the work behind them could not be read; or"
                + " their record could not be given a longer life.",
            Unit.PER_MINUTE,
            new Query("status unknown", perMinute(MetricName.STATUS_UNKNOWN)),
            new Query("retention not extended", perMinute(MetricName.RETENTION_FAILURES))));
  }

  private static String filter(MetricName metric) {
    return metric.scope() == Scope.PROCEDURE
        ? SERVERS + ", " + oneOf(MetricTags.PROCEDURE, "$procedure")
        : SERVERS;
  }

  private static String perSecond(MetricName metric, String... by) {
    requireTags(metric, by);
    return sum("rate(" + select(metric, filter(metric)) + WINDOW + ")", by);
  }

  private static String perMinute(MetricName metric, String... by) {
    return "60 * " + perSecond(metric, by);
  }

  private static String perMinute(MetricName metric, String only, String by, String andBy) {
    requireTags(metric, by, andBy);
    String selected = select(metric, filter(metric) + ", " + only);
    return "60 * " + sum("rate(" + selected + WINDOW + ")", by, andBy);
  }

  private static void requireTags(MetricName metric, String... by) {
    if (!metric.tags().containsAll(List.of(by))) {
      throw new IllegalArgumentException(metric + " has the tags " + metric.tags());
    }
  }

  private static String sum(String values, String... by) {
    return grouped("sum", by) + "(" + values + ")";
  }

  private static String now(String aggregation, MetricName gauge, String... by) {
    return grouped(aggregation, by) + "(" + select(gauge, filter(gauge)) + ")";
  }

  private static String longest(MetricName timer) {
    return "max(" + select(timer, "max", filter(timer)) + ")";
  }

  private static String grouped(String aggregation, String... by) {
    return by.length == 0 ? aggregation : aggregation + " by (" + String.join(", ", by) + ") ";
  }

  /** The quantiles need histograms, the mean does not. */
  private static Query[] durations(MetricName timer) {
    return new Query[] {
      new Query("99 %", quantile("0.99", timer)),
      new Query("50 %", quantile("0.5", timer)),
      new Query("mean", mean(timer))
    };
  }

  private static String quantile(String quantile, MetricName timer) {
    return "histogram_quantile(%s, sum by (le) (rate(%s%s)))"
        .formatted(quantile, select(timer, "bucket", filter(timer)), WINDOW);
  }

  private static String mean(MetricName timer) {
    return "%s / %s"
        .formatted(
            sum("rate(" + select(timer, "sum", filter(timer)) + WINDOW + ")"), perSecond(timer));
  }
}
