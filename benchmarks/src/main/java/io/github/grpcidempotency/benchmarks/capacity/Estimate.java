package io.github.grpcidempotency.benchmarks.capacity;

import java.util.Optional;

/**
 * What a load needs, of all primaries together.
 *
 * @param databaseCores at the peak, with the headroom
 * @param serviceCores likewise, of the servers
 * @param walBytesPerCreate of the log, over a record's whole life
 * @param walBytesPerDay what an archive gets in a day
 * @param liveBytes the table with its indexes, in its steady state
 * @param busyConnections at the peak (Little's law)
 * @param servers how many
 * @param poolSize connections in the pool of each server
 * @param upkeep what autovacuum does on one primary, if there are records
 * @param sweepSeconds how often one sweeper should run on each primary
 * @param freezeSeconds until PostgreSQL freezes the rows of one primary, by its defaults
 * @param first what gives way first when the load grows
 * @param perPrimary creates a second that one primary takes
 * @param primaries how many are needed
 */
record Estimate(
    double databaseCores,
    double serviceCores,
    double walBytesPerCreate,
    double walBytesPerDay,
    double liveBytes,
    double busyConnections,
    int servers,
    int poolSize,
    Optional<Upkeep> upkeep,
    double sweepSeconds,
    double freezeSeconds,
    Resource first,
    double perPrimary,
    int primaries) {}
