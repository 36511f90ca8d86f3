package io.github.grpcidempotency.torture;

import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * What a run is like: everything but the seed.
 *
 * @param pause between two faults, on average
 * @param faults how often each kind is chosen, relative to the others
 * @param cuts where connections are cut; one said twice is chosen twice as often
 * @param forms the methods called
 * @param slowPercent how many of a hundred handlers are slower than a lease
 */
record Plan(
    Duration length,
    int servers,
    int clients,
    Duration lease,
    Duration pause,
    Map<FaultKind, Integer> faults,
    List<String> cuts,
    List<Form> forms,
    int slowPercent) {

  static final String COMMIT = "COMMIT";
  static final String COMPLETION = "completed = now()";

  private static final List<String> ALL_CUTS =
      List.of(
          COMMIT,
          COMMIT,
          COMMIT,
          COMMIT,
          COMPLETION,
          COMPLETION,
          "ON CONFLICT (idempotency_key, user_id)",
          "pg_try_advisory_xact_lock",
          "attempt = k.attempt + 1",
          "renew_leases",
          "DELETE FROM idempotency.idempotency_keys",
          "torture.effects");

  /** Everything breaks, all the time. */
  static Plan everything(Duration length) {
    Map<FaultKind, Integer> faults = new EnumMap<>(FaultKind.class);
    faults.put(FaultKind.KILL, 18);
    faults.put(FaultKind.STOP, 4);
    faults.put(FaultKind.SKEW, 4);
    faults.put(FaultKind.DATABASE_STOP, 2);
    faults.put(FaultKind.DATABASE_KILL, 2);
    faults.put(FaultKind.CUT_BEFORE, 40);
    faults.put(FaultKind.CUT_AFTER, 40);
    faults.put(FaultKind.CUT_ALL, 4);
    faults.put(FaultKind.SWALLOW, 2);
    faults.put(FaultKind.EXHAUST, 4);
    return new Plan(
        length,
        2,
        24,
        Duration.ofMillis(2_000),
        Duration.ofMillis(350),
        faults,
        ALL_CUTS,
        List.of(Form.values()),
        3);
  }

  /** A short run in which only some things break. */
  static Plan only(Duration length, Map<FaultKind, Integer> faults, Form... forms) {
    return new Plan(
        length,
        2,
        8,
        Duration.ofMillis(1_000),
        Duration.ofMillis(600),
        faults,
        ALL_CUTS,
        List.of(forms),
        40);
  }

  Plan cutting(String... statements) {
    return new Plan(
        length, servers, clients, lease, pause, faults, List.of(statements), forms, slowPercent);
  }
}
