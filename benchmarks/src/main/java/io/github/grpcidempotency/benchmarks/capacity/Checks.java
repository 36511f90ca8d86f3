package io.github.grpcidempotency.benchmarks.capacity;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Holds the formulas against what was measured, and not used to fit them. */
final class Checks {
  private static final double CLOSE = 0.05;
  private static final double NEAR = 0.10;

  /** A busy machine lets a vacuum wait for a core, of which the formula knows nothing. */
  private static final double FAR = 0.6;

  /** An answer of a size between those that the formulas were fitted to. */
  private static final int BETWEEN = 4_096;

  /** What the scenario of the steady state sets. */
  private static final double STEADY_NAP_SECONDS = 1;

  private final Measurements measurements;
  private final Calibration calibration;
  private final List<Check> checks = new ArrayList<>();

  private Checks(Measurements measurements, Calibration calibration) {
    this.measurements = measurements;
    this.calibration = calibration;
  }

  static List<Check> of(Measurements measurements, Calibration calibration) {
    Checks checks = new Checks(measurements, calibration);
    checks.latencies();
    checks.throughput();
    checks.sizes();
    checks.log();
    checks.steadyState();
    return List.copyOf(checks.checks);
  }

  /** From calls on one machine, and the bare handler alone across the network. */
  private void latencies() {
    for (Way way :
        List.of(Way.TRANSACTIONAL, Way.FIRST_STATEMENT, Way.JOINED, Way.RESERVED_SAME_DATABASE)) {
      double held =
          calibration.holdMicros(way, Calibration.NETWORK_MICROS, calibration.flushMicros());
      add(
          "4 calls across 1 ms, " + way.label(),
          "calls/s",
          Calibration.NETWORK_CALLERS * 1e6 / held,
          measurements.of(Calibration.NETWORK, way.label(), Calibration.PER_SECOND),
          CLOSE);
    }
  }

  /** From processor time, and the bare handler's throughput. */
  private void throughput() {
    for (Way way :
        List.of(Way.TRANSACTIONAL, Way.FIRST_STATEMENT, Way.JOINED, Way.RESERVED_SAME_DATABASE)) {
      Calibration.Call call = calibration.of(way);
      add(
          "16 calls on two cores, " + way.label(),
          "calls/s",
          calibration.perSecond(
              Calibration.BENCHMARK_CORES, call.databaseMicros() + call.serviceMicros()),
          measurements.of(Calibration.CALLS, way.label(), Calibration.PER_SECOND),
          NEAR);
    }
  }

  /** From the smallest answer, and the layout of pages. */
  private void sizes() {
    for (int bytes : List.of(StageBytes.MIDDLE, BETWEEN, StageBytes.LARGE)) {
      add(
          "record in the table, answer of %,d B".formatted(bytes),
          "B",
          calibration.record().heap(bytes),
          measurements.of(
              "record-size",
              Calibration.lifeLabel(Way.TRANSACTIONAL, bytes),
              "heap and TOAST, packed"),
          CLOSE);
    }
  }

  /** From answers of three other sizes. */
  private void log() {
    for (Way way : List.of(Way.TRANSACTIONAL, Way.RESERVED_SAME_DATABASE)) {
      String label = Calibration.lifeLabel(way, BETWEEN);
      Calibration.Life life = calibration.life(way, true);
      add(
          "log, record made, " + label,
          "B",
          life.made().of(BETWEEN),
          measurements.of("life-of-a-record", label, "made in its place, after a checkpoint"),
          NEAR);
      add(
          "log, record swept and vacuumed, " + label,
          "B",
          life.swept().of(BETWEEN) + life.vacuumed().of(BETWEEN),
          measurements.of("life-of-a-record", label, "swept, after a checkpoint")
              + measurements.of("life-of-a-record", label, "vacuumed, after a checkpoint"),
          NEAR);
    }
  }

  private void steadyState() {
    String transactional = "transactional, as many as possible, autovacuum: defaults";
    String reserved = "reserved, same database, as many as possible, autovacuum: defaults";
    for (Way way : List.of(Way.TRANSACTIONAL, Way.RESERVED_SAME_DATABASE)) {
      String line = way.isReserved() ? reserved : transactional;
      double resource =
          measurements.of(
              "life-of-a-record", Calibration.lifeLabel(way, StageBytes.MIDDLE), "its resource");
      add(
          "log of a record, without checkpoints, steady state, " + way.label(),
          "B",
          calibration.life(way, false).of(StageBytes.MIDDLE) + resource,
          steady(line, "WAL B/create"),
          NEAR);
    }
    add(
        "table in its steady state, transactional",
        "MB",
        steady(transactional, "rows")
            * calibration.record().withIndexes(StageBytes.MIDDLE)
            * calibration.bloat()
            / 1e6,
        steady(transactional, "MB"),
        NEAR);
    vacuums("reserved, same database, 100/s, autovacuum: defaults");
    vacuums(transactional);
    vacuums(reserved);
  }

  /** By PostgreSQL's rules; the rate and the rows are those of the line. */
  private void vacuums(String line) {
    double rate = steady(line, "creates/s");
    Load load =
        new Load(
            rate,
            1,
            0,
            line.startsWith("reserved") ? Way.RESERVED_SAME_DATABASE : Way.TRANSACTIONAL,
            StageBytes.MIDDLE,
            Duration.ofSeconds(Math.round(steady(line, "rows") / rate)),
            calibration.handler());
    Upkeep upkeep =
        Upkeep.inMemory(load, Machine.Vacuum.DEFAULTS, calibration.record(), STEADY_NAP_SECONDS);
    double perMinute = steady(line, "vacuums/min");
    add("vacuums, " + line, "a minute", 60 / upkeep.seconds(), perMinute, FAR);
    add(
        "a vacuum runs, " + line,
        "s",
        upkeep.runSeconds(),
        steady(line, "vacuum, % of the time") * 0.6 / perMinute,
        FAR);
  }

  private double steady(String line, String metric) {
    return measurements.of(Calibration.STEADY, line, metric);
  }

  private void add(String name, String unit, double predicted, double measured, double tolerance) {
    checks.add(new Check(name, unit, predicted, measured, tolerance));
  }
}
