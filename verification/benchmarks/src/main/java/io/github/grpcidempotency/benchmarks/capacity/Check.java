package io.github.grpcidempotency.benchmarks.capacity;

import io.github.grpcidempotency.benchmarks.service.Variant;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Compares a prediction with a measurement that no constant of the model was fitted to.
 *
 * @param tolerance the allowed difference, as a share of the measurement
 */
record Check(String name, String unit, double predicted, double measured, double tolerance) {
  private static final List<Variant> WAYS =
      List.of(
          Variant.TRANSACTIONAL,
          Variant.FIRST_STATEMENT,
          Variant.JOINED_COMMIT,
          Variant.RESERVED_SAME_DATABASE);
  private static final String BUSY = ", as many as possible, autovacuum: defaults";
  private static final int STEADY_ANSWER = 1_024;

  double error() {
    return predicted / measured - 1;
  }

  boolean holds() {
    return Math.abs(error()) <= tolerance;
  }

  static List<Check> of(Model model) {
    Measurements measured = model.measured;
    List<Check> checks = new ArrayList<>();
    for (Variant way : WAYS) {
      double held = model.heldMicros(way, Model.MEASURED_NETWORK_MICROS, model.flushMicros);
      checks.add(
          new Check(
              "4 calls across 1 ms, " + way.label(),
              "calls/s",
              Model.NETWORK_CALLERS * 1e6 / held,
              measured.of(Measurements.NETWORK, way.label(), Model.CALLS_PER_SECOND),
              0.05));
    }
    for (Variant way : WAYS) {
      double micros = model.micros(way, Model.DATABASE) + model.micros(way, Model.SERVICE);
      checks.add(
          new Check(
              "16 calls on two cores, " + way.label(),
              "calls/s",
              Model.BENCHMARK_CORES * model.usable * 1e6 / micros,
              measured.of(Measurements.CALLS, way.label(), Model.CALLS_PER_SECOND),
              0.10));
    }
    for (Variant way : List.of(Variant.TRANSACTIONAL, Variant.RESERVED_SAME_DATABASE)) {
      checks.add(
          new Check(
              "log of a record, without checkpoints, steady state, " + way.label(),
              "B",
              model.lifeBytes(way, STEADY_ANSWER, "")
                  + measured.ofRecord(Measurements.LIFE, way, STEADY_ANSWER, "its resource"),
              measured.of(Measurements.STEADY, way.label() + BUSY, "WAL B/create"),
              0.10));
    }
    String line = Variant.TRANSACTIONAL.label() + BUSY;
    double rows = measured.of(Measurements.STEADY, line, "rows");
    Load steady = new Load(rows, Variant.TRANSACTIONAL, STEADY_ANSWER, Duration.ofSeconds(1));
    checks.add(
        new Check(
            "table in its steady state, transactional",
            "MB",
            model.liveBytes(steady) / 1e6,
            measured.of(Measurements.STEADY, line, "MB"),
            0.10));
    return checks;
  }
}
