package io.github.grpcidempotency.benchmarks.capacity;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A prediction, held against a measurement that no constant was fitted to.
 *
 * @param tolerance how far off it may be, as a share of what was measured
 */
record Check(String name, String unit, double predicted, double measured, double tolerance) {
  private static final List<Way> WAYS =
      List.of(Way.TRANSACTIONAL, Way.FIRST_STATEMENT, Way.JOINED, Way.RESERVED_SAME_DATABASE);
  private static final String SLOW = "reserved, same database, 100/s, autovacuum: defaults";
  private static final String BUSY = ", as many as possible, autovacuum: defaults";
  private static final int STEADY_ANSWER = 1_024;

  /** A busy machine lets a vacuum wait for a core, of which the formula knows nothing. */
  private static final double VACUUM_TOLERANCE = 0.6;

  double error() {
    return predicted / measured - 1;
  }

  boolean holds() {
    return Math.abs(error()) <= tolerance;
  }

  static List<Check> of(Model model) {
    Measurements measured = model.measured;
    List<Check> checks = new ArrayList<>();
    for (Way way : WAYS) {
      double held = model.heldMicros(way, Model.MEASURED_NETWORK_MICROS, model.flushMicros);
      checks.add(
          new Check(
              "4 calls across 1 ms, " + way.label(),
              "calls/s",
              Model.NETWORK_CALLERS * 1e6 / held,
              measured.of(Measurements.NETWORK, way.label(), Model.CALLS_PER_SECOND),
              0.05));
    }
    for (Way way : WAYS) {
      double micros = model.micros(way, Model.DATABASE) + model.micros(way, Model.SERVICE);
      checks.add(
          new Check(
              "16 calls on two cores, " + way.label(),
              "calls/s",
              Model.BENCHMARK_CORES * model.usable * 1e6 / micros,
              measured.of(Measurements.CALLS, way.label(), Model.CALLS_PER_SECOND),
              0.10));
    }
    for (Way way : List.of(Way.TRANSACTIONAL, Way.RESERVED_SAME_DATABASE)) {
      checks.add(
          new Check(
              "log of a record, without checkpoints, steady state, " + way.label(),
              "B",
              model.lifeBytes(way, STEADY_ANSWER, "")
                  + measured.ofRecord(Measurements.LIFE, way, STEADY_ANSWER, "its resource"),
              measured.of(Measurements.STEADY, way.label() + BUSY, "WAL B/create"),
              0.10));
    }
    Load steady = steady(measured, Way.TRANSACTIONAL.label() + BUSY, Way.TRANSACTIONAL);
    checks.add(
        new Check(
            "table in its steady state, transactional",
            "MB",
            model.liveBytes(steady) / 1e6,
            measured.of(Measurements.STEADY, Way.TRANSACTIONAL.label() + BUSY, "MB"),
            0.10));
    checks.addAll(vacuums(model, SLOW, Way.RESERVED_SAME_DATABASE));
    checks.addAll(vacuums(model, Way.TRANSACTIONAL.label() + BUSY, Way.TRANSACTIONAL));
    String reserved = Way.RESERVED_SAME_DATABASE.label() + BUSY;
    checks.addAll(vacuums(model, reserved, Way.RESERVED_SAME_DATABASE));
    return checks;
  }

  private static List<Check> vacuums(Model model, String line, Way way) {
    // The tables of that scenario are in memory.
    Model.Vacuum vacuum = model.vacuum(steady(model.measured, line, way), 1);
    double perMinute = model.measured.of(Measurements.STEADY, line, "vacuums/min");
    double percent = model.measured.of(Measurements.STEADY, line, "vacuum, % of the time");
    return List.of(
        new Check(
            "vacuums, " + line,
            "a minute",
            60 / vacuum.everySeconds(),
            perMinute,
            VACUUM_TOLERANCE),
        new Check(
            "a vacuum runs, " + line,
            "s",
            vacuum.runSeconds(),
            percent * 0.6 / perMinute,
            VACUUM_TOLERANCE));
  }

  /** Returns the load of which a line of the scenario was measured. */
  private static Load steady(Measurements measured, String line, Way way) {
    double rate = measured.of(Measurements.STEADY, line, "creates/s");
    double rows = measured.of(Measurements.STEADY, line, "rows");
    return new Load(rate, way, STEADY_ANSWER, Duration.ofSeconds(Math.round(rows / rate)), 0, 0);
  }
}
