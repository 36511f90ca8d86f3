package io.github.grpcidempotency.benchmarks.capacity;

/**
 * What autovacuum does for the table of records, by PostgreSQL's own rules: it starts when so many
 * rows are dead, pays for pages, and sleeps whenever it has spent its limit.
 *
 * @param seconds from one vacuum's start to the next
 * @param runSeconds how long one runs
 * @param bytes what one reads: the pages with dead rows, and all indexes
 * @param costLimit what it may spend before it sleeps
 */
record Upkeep(double seconds, double runSeconds, double bytes, double costLimit) {
  /** autovacuum_vacuum_threshold. */
  private static final double THRESHOLD = 50;

  /** autovacuum_vacuum_cost_delay. */
  private static final double SLEEP_SECONDS = 0.002;

  /** The most that autovacuum_vacuum_cost_limit can be. */
  private static final double HIGHEST_LIMIT = 10_000;

  private static final double COST_OF_DIRTY = 20;
  private static final double COST_OF_HIT = 1;
  private static final double COST_OF_MISS = 2;

  /** autovacuum_naptime. */
  static final double NAP_SECONDS = 60;

  /** Finds it for a table that is larger than the memory. */
  static Upkeep of(Load load, Machine.Vacuum settings, RecordBytes record) {
    return of(load, settings, record, NAP_SECONDS, COST_OF_MISS);
  }

  /** Finds it for a table that is in memory. */
  static Upkeep inMemory(
      Load load, Machine.Vacuum settings, RecordBytes record, double napSeconds) {
    return of(load, settings, record, napSeconds, COST_OF_HIT);
  }

  private static Upkeep of(
      Load load,
      Machine.Vacuum settings,
      RecordBytes record,
      double napSeconds,
      double costOfRead) {
    double dead = THRESHOLD + settings.scaleFactor() * load.rows();
    double deadPerSecond = load.createsPerSecond() * load.way().deadRows();
    double heapPages = dead * record.heap(load.answerBytes()) / Pages.PAGE;
    double indexPages = load.rows() * record.indexBytes() / Pages.PAGE;
    double dirtyIndexPages = Math.min(indexPages, dead * record.indexBytes() / Pages.PAGE);
    double cost =
        heapPages * (costOfRead + COST_OF_DIRTY + COST_OF_HIT)
            + indexPages * costOfRead
            + dirtyIndexPages * COST_OF_DIRTY;
    double run = cost / settings.costLimit() * SLEEP_SECONDS;
    double naps = Math.ceil(dead / deadPerSecond / napSeconds);
    // What dies on pages that a vacuum has passed counts for the next one only from its end on.
    return new Upkeep(
        naps * napSeconds + run, run, (heapPages + indexPages) * Pages.PAGE, settings.costLimit());
  }

  /** Returns the share of the time that it takes one process, at the speed of the disk at best. */
  double share(double diskBytesPerSecond) {
    double disk = bytes / diskBytesPerSecond;
    double highestLimit = runSeconds * costLimit / HIGHEST_LIMIT;
    return Math.max(disk, highestLimit) / (seconds - runSeconds);
  }
}
