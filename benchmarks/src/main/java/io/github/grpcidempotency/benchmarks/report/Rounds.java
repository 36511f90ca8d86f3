package io.github.grpcidempotency.benchmarks.report;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** One number, measured in several rounds. */
public final class Rounds {
  private final List<Double> values = new ArrayList<>();

  /** Adds what a round gave. */
  public void add(double value) {
    values.add(value);
  }

  /** Returns the median of the rounds. */
  public double median() {
    List<Double> sorted = sorted();
    int middle = sorted.size() / 2;
    return sorted.size() % 2 == 1
        ? sorted.get(middle)
        : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
  }

  Result result(String scenario, String variant, int calls, String metric) {
    List<Double> sorted = sorted();
    return new Result(
        scenario, variant, calls, metric, median(), sorted.get(0), sorted.get(sorted.size() - 1));
  }

  private List<Double> sorted() {
    List<Double> sorted = new ArrayList<>(values);
    Collections.sort(sorted);
    return sorted;
  }
}
