package io.github.grpcidempotency.micrometer.monitoring;

import static io.github.grpcidempotency.micrometer.monitoring.Promql.grown;
import static io.github.grpcidempotency.micrometer.monitoring.Promql.is;
import static io.github.grpcidempotency.micrometer.monitoring.Promql.select;

import io.github.grpcidempotency.event.RefusalReason;
import io.github.grpcidempotency.micrometer.MetricName;
import io.github.grpcidempotency.micrometer.MetricTags;
import io.github.grpcidempotency.micrometer.monitoring.Alert.Severity;
import java.util.List;

/** The alerts. A service is what Prometheus calls a job. */
final class Alerts {
  /**
   * A rule that computes what alerts compare with the day before.
   *
   * @param name by which expressions use it
   */
  record Recording(String name, String expression) {}

  private static final String ON_SERVICE = "sum by (job)";
  private static final String ON_PROCEDURE = "sum by (job, %s)".formatted(MetricTags.PROCEDURE);
  private static final String ON_SCHEMA = "max by (job, %s)".formatted(MetricTags.SCHEMA);

  static final Recording CALLS =
      new Recording(
          "job:idempotency_calls:rate5m",
          """
          %s (
            rate(%s[5m])
          or
            rate(%s[5m])
          )\
          """
              .formatted(
                  ON_SERVICE,
                  select(MetricName.KEYS_FOUND, ""),
                  select(MetricName.KEYS_MISSING, "")));

  static final Recording REPLAYS =
      new Recording(
          "job:idempotency_replays:rate5m",
          """
          %s (rate(%s[5m]))
          or
          0 * %s\
          """
              .formatted(ON_SERVICE, select(MetricName.REPLAYS, ""), CALLS.name()));

  static final Recording REUSED =
      new Recording(
          "job_procedure:idempotency_keys_reused:increase15m",
          """
          %1$s (
          %2$s
          )
          or
          0 * %1$s (%3$s)\
          """
              .formatted(
                  ON_PROCEDURE,
                  grown(
                          MetricName.REFUSALS,
                          is(MetricTags.REASON, RefusalReason.IDEMPOTENCY_KEY_REUSED.name()),
                          "15m")
                      .indent(2)
                      .stripTrailing(),
                  select(MetricName.KEYS_FOUND, "")));

  static final Alert REPLAYS_DROP =
      new Alert(
          "IdempotencyReplaysDrop",
          Severity.WARNING,
          "30m",
          """
          avg_over_time(%1$s[1h])
            / avg_over_time(%2$s[1h])
          < 0.25 *
            avg_over_time(%1$s[1d] offset 1h)
            / avg_over_time(%2$s[1d] offset 1h)
          and
            # at least 20 replays would be due
            3600 * avg_over_time(%2$s[1h])
            * avg_over_time(%1$s[1d] offset 1h)
            / avg_over_time(%2$s[1d] offset 1h)
            >= 20
          and
            # there is a day to compare with
            %2$s offset 1d\
          """
              .formatted(REPLAYS.name(), CALLS.name()),
          "{{ $labels.job }} replays far less than yesterday",
          "Only {{ $value | humanizePercentage }} of the calls of the last hour were replays, less"
              + " than a quarter of what was usual over the last day. Retries may no longer find"
              + " their records, and run twice.");

  static final Alert REUSED_KEYS_JUMP =
      new Alert(
          "IdempotencyReusedKeysJump",
          Severity.WARNING,
          "5m",
          """
          %1$s >= 10
          and
            %1$s > 5 * avg_over_time(%1$s[1d] offset 15m)
          and
            # there is an hour to compare with
            %1$s offset 1h\
          """
              .formatted(REUSED.name()),
          "Clients of {{ $labels.procedure }} send used keys with other requests",
          "{{ $value | humanize }} calls within 15 minutes were refused with"
              + " IDEMPOTENCY_KEY_REUSED, more than five times what was usual over the last day. A"
              + " client uses one key for different requests, or changes a request between"
              + " retries.");

  static final Alert UNPROTECTED_CALLS =
      new Alert(
          "IdempotencyUnprotectedCalls",
          Severity.CRITICAL,
          "0m",
          """
          sum by (job, %s, %s) (
          %s
          ) > 0\
          """
              .formatted(
                  MetricTags.PROCEDURE,
                  MetricTags.CAUSE,
                  grown(MetricName.UNPROTECTED, "", "10m").indent(2).stripTrailing()),
          "Calls of {{ $labels.procedure }} with a key run unprotected ({{ $labels.cause }})",
          "In the last 10 minutes, calls of {{ $labels.job }} carried a key and ran without the"
              + " store. Their retries run again.");

  static final Alert STUCK_LEASES =
      new Alert(
          "IdempotencyStuckLeases",
          Severity.WARNING,
          "10m",
          "%s (%s) > 0".formatted(ON_SCHEMA, select(MetricName.DATABASE_STUCK, "")),
          "{{ $value | humanize }} reservations of {{ $labels.job }} are stuck",
          "Their leases ended more than 10 minutes ago, and no retry has taken over. Their servers"
              + " have crashed or lost the database, and it is unknown whether their effects"
              + " happened.");

  static final Alert SWEEP_LAG =
      new Alert(
          "IdempotencySweepLag",
          Severity.WARNING,
          "30m",
          "%s (%s) > 3 * 3600".formatted(ON_SCHEMA, select(MetricName.DATABASE_SWEEP_LAG, "")),
          "Expired records of {{ $labels.job }} are not swept",
          "The oldest has been expired for {{ $value | humanizeDuration }}. Answers are not"
              + " affected, but the table grows.");

  static final Alert LATE_RECORDINGS_PILE_UP =
      new Alert(
          "IdempotencyLateRecordingsPileUp",
          Severity.CRITICAL,
          "2m",
          "%s (%s) >= 5".formatted(ON_SERVICE, select(MetricName.RECORDINGS_WAITING, "")),
          "{{ $value | humanize }} answers of {{ $labels.job }} wait to be recorded",
          "Their effects have happened. An answer that is not recorded before its lease ends is"
              + " lost: a retry runs its handler again.");

  static final Alert RECORDINGS_ABANDONED =
      new Alert(
          "IdempotencyRecordingsAbandoned",
          Severity.CRITICAL,
          "0m",
          """
          %s (
          %s
          ) > 0\
          """
              .formatted(
                  ON_PROCEDURE,
                  grown(MetricName.RECORDINGS_ABANDONED, "", "10m").indent(2).stripTrailing()),
          "Answers of {{ $labels.procedure }} were given up",
          "In the last 10 minutes, handlers of {{ $labels.job }} had their effect, and the record"
              + " of it was given up. A retry runs the handler again.");

  static final Alert WAIT_QUEUE_GROWS =
      new Alert(
          "IdempotencyWaitQueueGrows",
          Severity.WARNING,
          "5m",
          """
          %1$s (%2$s) >= 20
          and
            # ten more within ten minutes
            600 * %1$s (deriv(%2$s[10m])) >= 10\
          """
              .formatted(ON_SERVICE, select(MetricName.CALLS_WAITING, "")),
          "{{ $value | humanize }} duplicates of {{ $labels.job }} wait for running calls, and more"
              + " come",
          "Clients retry faster than handlers answer. The waiting calls hold neither threads nor"
              + " connections, but their clients get no answer.");

  static final Alert OLD_CALL =
      new Alert(
          "IdempotencyOldCall",
          Severity.WARNING,
          "5m",
          "max by (job, instance) (%s) > 900".formatted(select(MetricName.CALLS_OLDEST, "")),
          "A handler of {{ $labels.instance }} has not answered for long",
          "A call of {{ $labels.job }} has been running for {{ $value | humanizeDuration }}. If its"
              + " handler has forgotten to answer, it holds a connection or a key until it is given"
              + " up.");

  private Alerts() {}

  static List<Recording> recordings() {
    return List.of(CALLS, REPLAYS, REUSED);
  }

  static List<Alert> all() {
    return List.of(
        UNPROTECTED_CALLS,
        RECORDINGS_ABANDONED,
        LATE_RECORDINGS_PILE_UP,
        STUCK_LEASES,
        REPLAYS_DROP,
        REUSED_KEYS_JUMP,
        WAIT_QUEUE_GROWS,
        OLD_CALL,
        SWEEP_LAG);
  }
}
