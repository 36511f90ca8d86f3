package io.github.grpcidempotency.benchmarks.capacity;

import io.github.grpcidempotency.benchmarks.service.Variant;
import java.time.Duration;

/**
 * What is asked of the service.
 *
 * @param rate creates with new keys a second, on the average of a day
 * @param way how they are run
 * @param answerBytes the size of a recorded answer
 * @param retention how long a record lives
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
