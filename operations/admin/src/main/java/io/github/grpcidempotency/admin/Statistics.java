package io.github.grpcidempotency.admin;

import java.time.Duration;
import java.util.Optional;

/**
 * Figures of the table, read cheaply and without contents.
 *
 * @param rows the number of rows, as estimated by the planner
 * @param bytes the size of the table with its indexes
 * @param inFlight the reservations that are not completed and not expired; empty if the schema has
 *     no index for them ({@code add_in_flight_index()})
 * @param expired the number of expired records that are not swept yet, counted up to a limit
 * @param expiredIsMore whether there are more than were counted
 * @param sweepLag the time since the expiry of the oldest expired record
 * @param keyLocks the number of advisory locks with a number of 64 bits. Each running transactional
 *     call holds one for its key, and is not among the rows; locks of this kind that the service
 *     takes itself are counted too
 */
public record Statistics(
    long rows,
    long bytes,
    Optional<InFlight> inFlight,
    long expired,
    boolean expiredIsMore,
    Optional<Duration> sweepLag,
    long keyLocks) {

  /**
   * The records of one procedure. Exact for a table of up to 10,000 pages, and otherwise estimated
   * from a sample.
   *
   * @param procedure the procedure
   * @param records the number of its records
   * @param lastHour the number of those that were created within the last hour
   * @param lastDay the number of those that were created within the last day
   */
  public record OfProcedure(String procedure, long records, long lastHour, long lastDay) {}

  /**
   * Figures of the reservations.
   *
   * @param all their number
   * @param stuck the number whose lease has ended, or {@linkplain OperationRecord#leaseIsAhead is
   *     ahead}
   * @param unknown the number with an unknown outcome
   * @param oldest the age of the oldest
   */
  public record InFlight(long all, long stuck, long unknown, Optional<Duration> oldest) {}
}
