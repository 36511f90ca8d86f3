package io.github.grpcidempotency.benchmarks.capacity;

import java.time.Duration;

/**
 * What is asked of the service, and what a primary has for it.
 *
 * @param rate creates with new keys a second, on the average of a day
 * @param way how they are run
 * @param answerBytes the size of a recorded answer
 * @param retention how long a record lives
 * @param cores of a primary, each as fast as those of the benchmarks
 * @param diskBytes what a primary's disk holds
 */
record Load(
    double rate, Way way, int answerBytes, Duration retention, double cores, double diskBytes) {
  double rows() {
    return way.isRecorded() ? rate * retention.toSeconds() : 0;
  }

  Load at(double otherRate) {
    return new Load(otherRate, way, answerBytes, retention, cores, diskBytes);
  }

  Load by(Way otherWay) {
    return new Load(rate, otherWay, answerBytes, retention, cores, diskBytes);
  }

  Load keeping(int otherAnswer, Duration otherRetention) {
    return new Load(rate, way, otherAnswer, otherRetention, cores, diskBytes);
  }
}
