package io.github.grpcidempotency.benchmarks.capacity;

import java.time.Duration;

/**
 * What is asked of the service.
 *
 * @param createsPerSecond creates with new keys, on the average of a day
 * @param peakFactor how much more there are at the peak
 * @param replaysPerCreate retries that are answered from a record, for each create
 * @param way how they are run
 * @param answerBytes the size of a recorded answer
 * @param retention how long a record lives
 * @param handler what the handler itself takes of the database
 */
record Load(
    double createsPerSecond,
    double peakFactor,
    double replaysPerCreate,
    Way way,
    int answerBytes,
    Duration retention,
    Handler handler) {

  /**
   * A handler's own work in the database.
   *
   * @param cpuMicros processor time of the database
   * @param walBytes what it writes to the log
   */
  record Handler(double cpuMicros, double walBytes) {}

  double atPeak() {
    return createsPerSecond * peakFactor;
  }

  /** Returns how many records live. */
  double rows() {
    return way.isRecorded() ? createsPerSecond * retention.toSeconds() : 0;
  }

  Load with(double rate) {
    return new Load(rate, peakFactor, replaysPerCreate, way, answerBytes, retention, handler);
  }

  Load with(Way other) {
    return new Load(
        createsPerSecond, peakFactor, replaysPerCreate, other, answerBytes, retention, handler);
  }
}
