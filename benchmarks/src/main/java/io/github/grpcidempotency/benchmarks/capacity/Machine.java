package io.github.grpcidempotency.benchmarks.capacity;

/**
 * A primary, and what is around it.
 *
 * @param cores of the primary; each is taken to be as fast as those of the benchmarks
 * @param diskBytes what its disk holds
 * @param diskBytesPerSecond what its disk reads or writes, log and data together
 * @param networkBytesPerSecond what its network carries in one direction
 * @param connections how many it may have
 * @param flushMicros how long a flush of the log takes
 * @param networkMicros how long a round trip between service and database takes
 * @param headroom the share of each of these that may be used
 * @param replicas how many get its log
 * @param synchronous whether a commit waits for one of them
 * @param vacuum how autovacuum is set
 */
record Machine(
    double cores,
    double diskBytes,
    double diskBytesPerSecond,
    double networkBytesPerSecond,
    double connections,
    double flushMicros,
    double networkMicros,
    double headroom,
    int replicas,
    boolean synchronous,
    Vacuum vacuum) {

  /**
   * Settings of autovacuum.
   *
   * @param scaleFactor the share of dead rows that starts it
   * @param costLimit what it may spend before it sleeps
   */
  record Vacuum(double scaleFactor, double costLimit) {
    /** Those of PostgreSQL. */
    static final Vacuum DEFAULTS = new Vacuum(0.2, 200);
  }

  /** Returns how long a commit waits for the log, here and on a replica if it must. */
  double commitMicros() {
    return synchronous ? 2 * flushMicros + networkMicros : flushMicros;
  }
}
