package io.github.grpcidempotency.benchmarks.report;

import java.util.ArrayList;
import java.util.List;
import java.util.function.DoubleUnaryOperator;

/** Where numbers stand in a plot, and which of them are written beside it. */
final class Axis {
  private static final int MOST_TICKS = 8;

  private final List<Double> ticks;
  private final DoubleUnaryOperator position;

  private Axis(List<Double> ticks, DoubleUnaryOperator position) {
    this.ticks = ticks;
    this.position = position;
  }

  /** From zero on, between two positions. */
  static Axis linear(double most, double from, double to) {
    double step = Math.pow(10, Math.floor(Math.log10(most)));
    while (most / step > MOST_TICKS) {
      step *= 2;
    }
    while (most / step < MOST_TICKS / 2.0) {
      step /= 2;
    }
    List<Double> ticks = new ArrayList<>();
    for (int i = 0; i * step <= most; i++) {
      ticks.add(i * step);
    }
    return new Axis(ticks, value -> from + (to - from) * value / most);
  }

  /** From a power of ten on; each tick is one, twice or five times such a power. */
  static Axis logarithmic(double least, double most, double from, double to) {
    double bottom = Math.log10(least);
    double height = Math.max(Math.log10(most) - bottom, 0.1);
    List<Double> ticks = new ArrayList<>();
    for (double power = Math.pow(10, Math.floor(bottom)); power <= most; power *= 10) {
      for (double tick : new double[] {power, 2 * power, 5 * power}) {
        if (tick >= least && tick <= most) {
          ticks.add(tick);
        }
      }
    }
    return new Axis(ticks, value -> from + (to - from) * (Math.log10(value) - bottom) / height);
  }

  /** From one power of ten to another; each tick is one of them. */
  static Axis magnitudes(double least, double most, double from, double to) {
    int bottom = (int) Math.floor(Math.log10(least));
    int top = Math.max((int) Math.ceil(Math.log10(most)), bottom + 1);
    List<Double> ticks = new ArrayList<>();
    for (int power = bottom; power <= top; power++) {
      ticks.add(Math.pow(10, power));
    }
    return new Axis(
        ticks, value -> from + (to - from) * (Math.log10(value) - bottom) / (top - bottom));
  }

  List<Double> ticks() {
    return ticks;
  }

  double at(double value) {
    return position.applyAsDouble(value);
  }
}
