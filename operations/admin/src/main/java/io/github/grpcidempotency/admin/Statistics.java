package io.github.grpcidempotency.admin;

import java.time.Duration;
import java.util.Optional;

/**
 * The table in numbers, read cheaply and without contents.
 *
 * @param rows how many records there are, as the planner estimates it
 * @param bytes how large the table is with its indexes
 * @param inFlight the reservations that are not completed, without those that have expired; empty
 *     if the service has no index for them ({@code add_in_flight_index()})
 * @param expired how many records have expired and are not yet swept, counted up to a limit
 * @param expiredIsMore whether there are more than were counted
 * @param sweepLag for how long the oldest expired record has been expired
 */
public record Statistics(
    long rows,
    long bytes,
    Optional<InFlight> inFlight,
    long expired,
    boolean expiredIsMore,
    Optional<Duration> sweepLag) {

  /**
   * Reservations in numbers.
   *
   * @param all how many there are
   * @param stuck how many of them have let their lease end
   * @param unknown how many have an unknown outcome
   * @param oldest for how long the oldest has stood
   */
  public record InFlight(long all, long stuck, long unknown, Optional<Duration> oldest) {}
}
