package io.github.grpcidempotency.micrometer.monitoring;

import static io.github.grpcidempotency.micrometer.monitoring.AlertCase.input;
import static io.github.grpcidempotency.micrometer.monitoring.AlertCase.up;

import io.github.grpcidempotency.event.RefusalReason;
import io.github.grpcidempotency.event.UnprotectedCause;
import io.github.grpcidempotency.micrometer.MetricName;
import io.github.grpcidempotency.micrometer.MetricName.Scope;
import io.github.grpcidempotency.micrometer.MetricTags;
import io.github.grpcidempotency.micrometer.monitoring.AlertCase.Fired;
import io.github.grpcidempotency.micrometer.monitoring.AlertCase.Input;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/**
 * When each alert is fired, and when it is not. Series have a value a minute; rules are evaluated
 * every five minutes, because some compare with the day before.
 */
final class AlertCases {
  private static final List<String> REUSED =
      List.of(MetricTags.REASON, RefusalReason.IDEMPOTENCY_KEY_REUSED.name());
  private static final String FAILED_OPEN =
      UnprotectedCause.FAILED_OPEN.name().toLowerCase(Locale.ROOT);

  private AlertCases() {}

  static List<AlertCase> all() {
    return Stream.of(
            unprotectedCalls(),
            recordingsAbandoned(),
            lateRecordingsPileUp(),
            stuckLeases(),
            replaysDrop(),
            reusedKeysJump(),
            waitQueueGrows(),
            oldCall(),
            sweepLag(),
            allQuiet())
        .flatMap(List::stream)
        .toList();
  }

  private static List<AlertCase> unprotectedCalls() {
    Fired fired =
        new Fired(
            Alerts.UNPROTECTED_CALLS,
            Map.of(
                "job",
                AlertCase.JOB,
                MetricTags.PROCEDURE,
                AlertCase.PROCEDURE,
                MetricTags.CAUSE,
                FAILED_OPEN),
            Map.of());
    return List.of(
        fires("a call runs unprotected", "25m", fired, unprotected("3x20 4x10")),
        fires("the first unprotected call of a server", "25m", fired, unprotected("_x20 1x10")),
        silent(
            "a call ran unprotected an hour ago", "80m", fired.alert(), unprotected("3x20 4x60")),
        silent(
            "a server is scraped for the first time, whose call ran unprotected long ago",
            "5m",
            fired.alert(),
            input(MetricName.UNPROTECTED, "7x10", MetricTags.CAUSE, FAILED_OPEN),
            up("1x10")));
  }

  private static Input[] unprotected(String values) {
    return new Input[] {
      input(MetricName.UNPROTECTED, values, MetricTags.CAUSE, FAILED_OPEN), up("1x120")
    };
  }

  private static List<AlertCase> recordingsAbandoned() {
    Fired fired =
        new Fired(Alerts.RECORDINGS_ABANDONED, AlertCase.labels(Scope.PROCEDURE), Map.of());
    return List.of(
        fires(
            "an answer is given up",
            "25m",
            fired,
            input(MetricName.RECORDINGS_ABANDONED, "0x20 1x10"),
            up("1x30")),
        fires(
            "an answer is given up, the first of its server",
            "25m",
            fired,
            input(MetricName.RECORDINGS_ABANDONED, "_x20 1x10"),
            up("1x30")),
        silent(
            "answers are recorded late, and none is given up",
            "25m",
            fired.alert(),
            input(MetricName.RECORDINGS_ABANDONED, "2x30"),
            input(MetricName.RECORDINGS_DEFERRED, "0+5x30"),
            input(MetricName.RECORDINGS_LATE, "0+5x30"),
            up("1x30")));
  }

  private static List<AlertCase> lateRecordingsPileUp() {
    Fired fired =
        new Fired(
            Alerts.LATE_RECORDINGS_PILE_UP,
            AlertCase.labels(Scope.PROCESS),
            Map.of("humanize", "12"));
    return List.of(
        fires(
            "answers of two servers wait for minutes",
            "10m",
            fired,
            input(MetricName.RECORDINGS_WAITING, "0x4 8x10"),
            input(MetricName.RECORDINGS_WAITING, "0x4 4x10", "instance", "two:9090")),
        silent(
            "answers wait for a moment",
            "5m",
            fired.alert(),
            input(MetricName.RECORDINGS_WAITING, "0x4 50x2 0x10")),
        silent(
            "a single answer waits at a time",
            "20m",
            fired.alert(),
            input(MetricName.RECORDINGS_WAITING, "1x20")));
  }

  private static List<AlertCase> stuckLeases() {
    Fired fired =
        new Fired(Alerts.STUCK_LEASES, AlertCase.labels(Scope.DATABASE), Map.of("humanize", "2"));
    return List.of(
        fires(
            "two servers report the same two reservations",
            "30m",
            fired,
            input(MetricName.DATABASE_STUCK, "0x10 2x20"),
            input(MetricName.DATABASE_STUCK, "0x10 2x20", "instance", "two:9090")),
        silent(
            "the leases have just ended, and retries may come",
            "15m",
            fired.alert(),
            input(MetricName.DATABASE_STUCK, "0x9 2x10")),
        silent(
            "many reservations are in flight",
            "30m",
            fired.alert(),
            input(MetricName.DATABASE_STUCK, "0x30"),
            input(MetricName.DATABASE_IN_FLIGHT, "500x30")));
  }

  private static List<AlertCase> replaysDrop() {
    Fired fired =
        new Fired(
            Alerts.REPLAYS_DROP,
            AlertCase.labels(Scope.PROCESS),
            Map.of("humanizePercentage", "0%"));
    Input calls = input(MetricName.KEYS_FOUND, "0+10x1600");
    return List.of(
        fires(
            "replays end while calls go on",
            "26h",
            fired,
            calls,
            input(MetricName.REPLAYS, "0+2x1440 2880x160")),
        fires(
            "no client sends keys to servers that are new",
            "26h",
            fired,
            input(MetricName.KEYS_FOUND, "0+10x1440"),
            input(MetricName.REPLAYS, "0+2x1440"),
            input(MetricName.KEYS_MISSING, "_x1441 0+10x160", "instance", "two:9090")),
        silent("replays go on", "26h", fired.alert(), calls, input(MetricName.REPLAYS, "0+2x1600")),
        silent(
            "calls end, and replays with them",
            "26h",
            fired.alert(),
            input(MetricName.KEYS_FOUND, "0+10x1440 14400x160"),
            input(MetricName.REPLAYS, "0+2x1440 2880x160")),
        silent(
            "there is no day to compare with",
            "6h",
            fired.alert(),
            calls,
            input(MetricName.REPLAYS, "0+2x240 480x160")));
  }

  private static List<AlertCase> reusedKeysJump() {
    Fired fired =
        new Fired(
            Alerts.REUSED_KEYS_JUMP, AlertCase.labels(Scope.PROCEDURE), Map.of("humanize", "30"));
    return List.of(
        fires("a client goes wrong", "150m", fired, reused("0x120 0+2x60")),
        fires(
            "a client goes wrong, the first at this server", "150m", fired, reused("_x120 2+2x60")),
        silent("there are as many as ever", "25h", fired.alert(), reused("0+2x1600")),
        silent("there are as many from the start", "20m", fired.alert(), reused("0+2x100")),
        silent(
            "other refusals jump",
            "150m",
            fired.alert(),
            input(
                MetricName.REFUSALS,
                "0x120 0+20x60",
                MetricTags.REASON,
                RefusalReason.IDEMPOTENCY_IN_PROGRESS.name()),
            input(MetricName.KEYS_FOUND, "0+30x180"),
            up("1x180")));
  }

  private static Input[] reused(String values) {
    return new Input[] {
      input(MetricName.REFUSALS, values, REUSED.toArray(String[]::new)),
      input(MetricName.KEYS_FOUND, "0+30x1600"),
      up("1x1600")
    };
  }

  private static List<AlertCase> waitQueueGrows() {
    Fired fired =
        new Fired(
            Alerts.WAIT_QUEUE_GROWS, AlertCase.labels(Scope.PROCESS), Map.of("humanize", "95"));
    return List.of(
        fires(
            "more and more duplicates wait",
            "30m",
            fired,
            input(MetricName.CALLS_WAITING, "0x10 0+5x30")),
        silent(
            "many wait, and no more come",
            "60m",
            fired.alert(),
            input(MetricName.CALLS_WAITING, "200x60")),
        silent(
            "a few wait", "15m", fired.alert(), input(MetricName.CALLS_WAITING, "0+1.5x12 19x3")));
  }

  private static List<AlertCase> oldCall() {
    Fired fired =
        new Fired(
            Alerts.OLD_CALL,
            Map.of("job", AlertCase.JOB, "instance", "one:9090"),
            Map.of("humanizeDuration", "30m 0s"));
    return List.of(
        fires(
            "a handler has forgotten to answer",
            "30m",
            fired,
            input(MetricName.CALLS_OLDEST, "0+60x60"),
            input(MetricName.CALLS_OLDEST, "2x60", "instance", "two:9090")),
        silent(
            "calls take ten minutes, one after the other",
            "60m",
            fired.alert(),
            input(MetricName.CALLS_OLDEST, "0+60x9 0+60x9 0+60x9 0+60x9 0+60x9 0+60x9")));
  }

  private static List<AlertCase> sweepLag() {
    Fired fired =
        new Fired(
            Alerts.SWEEP_LAG,
            AlertCase.labels(Scope.DATABASE),
            Map.of("humanizeDuration", "6h 0m 0s"));
    return List.of(
        fires("nobody sweeps", "6h", fired, input(MetricName.DATABASE_SWEEP_LAG, "0+60x360")),
        silent(
            "a sweep comes every hour",
            "6h",
            fired.alert(),
            input(
                MetricName.DATABASE_SWEEP_LAG, "0+60x59 0+60x59 0+60x59 0+60x59 0+60x59 0+60x59")));
  }

  /** What must not alarm anybody. */
  private static List<AlertCase> allQuiet() {
    return List.of(
        quiet(
            "a server starts and has nothing to do",
            "2h",
            Stream.concat(
                    Stream.of(up("_x10 1x120")),
                    Stream.of(MetricName.values()).map(metric -> input(metric, "_x10 0x120")))
                .toList()),
        quiet(
            "servers of a busy service are started anew, and count from zero",
            "26h",
            List.of(
                up("1x1600"),
                input(MetricName.KEYS_FOUND, "0+10x1500 0+10x100"),
                input(MetricName.REPLAYS, "0+2x1500 0+2x100"),
                input(MetricName.REFUSALS, "100+2x1500 0+2x100", REUSED.toArray(String[]::new)),
                input(MetricName.UNPROTECTED, "9x1500 0x100", MetricTags.CAUSE, FAILED_OPEN),
                input(MetricName.RECORDINGS_ABANDONED, "9x1500 0x100"))),
        quiet(
            "there is next to no traffic",
            "26h",
            List.of(
                up("1x1600"),
                input(MetricName.KEYS_FOUND, "0x200 1x100 2x1180 3x20 4x20 5x100"),
                input(MetricName.REPLAYS, "0x250 1x1400"),
                input(MetricName.REFUSALS, "0x1530 1x10 2x10 3x50", REUSED.toArray(String[]::new)),
                input(MetricName.CALLS_WAITING, "0x1550 1x50"),
                input(MetricName.RECORDINGS_WAITING, "0x1550 1x50"))));
  }

  private static AlertCase fires(String name, String at, Fired fired, Input... series) {
    return new AlertCase(name, List.of(series), at, List.of(fired), List.of());
  }

  private static AlertCase silent(String name, String at, Alert silent, Input... series) {
    return new AlertCase(name, List.of(series), at, List.of(), List.of(silent));
  }

  private static AlertCase quiet(String name, String at, List<Input> series) {
    return new AlertCase(name, series, at, List.of(), Alerts.all());
  }
}
