package io.github.grpcidempotency.benchmarks.capacity;

import io.github.grpcidempotency.benchmarks.service.Variant;
import java.time.Duration;

/**
 * The load on the service.
 *
 * @param rate creates with new keys per second, averaged over a day
 * @param way the way of running them
 * @param answerBytes the size of a recorded answer
 * @param retention the retention of a record
 */
record Load(double rate, Variant way, int answerBytes, Duration retention) {
  double rows() {
    return isRecorded() ? rate * retention.toSeconds() : 0;
  }

  boolean isRecorded() {
    return way != Variant.BARE;
  }

  /** Returns how many dead rows a create leaves, from its update and from the sweep. */
  int deadRows() {
    return isRecorded() ? Model.isReserved(way) ? 2 : 1 : 0;
  }

  Load at(double otherRate) {
    return new Load(otherRate, way, answerBytes, retention);
  }

  Load by(Variant otherWay) {
    return new Load(rate, otherWay, answerBytes, retention);
  }

  Load keeping(int otherAnswer, Duration otherRetention) {
    return new Load(rate, way, otherAnswer, otherRetention);
  }
}
