package io.github.grpcidempotency.benchmarks.scenario;

import java.time.Duration;
import java.util.List;

/**
 * How much to measure.
 *
 * @param round how long one variant is measured in one round
 * @param rounds how many
 * @param selection what is compared with the bare handler
 * @param callers how many calls at once
 * @param liveKeys how many keys a full table has
 * @param sweptKeys how many expired records a sweep deletes
 * @param waitingCalls how many calls wait at once
 * @param measuredRecords how many records are written to find their size
 * @param retention how long records live where a table is brought into a steady state
 * @param connections how many connections the service's pool has
 * @param largeTable how many live keys a large table has
 * @param partitions in how many partitions it is compared with one table
 * @param network how much longer a round trip to the database takes across a network
 */
public record Pace(
    Duration round,
    int rounds,
    Selection selection,
    List<Integer> callers,
    int liveKeys,
    int sweptKeys,
    int waitingCalls,
    int measuredRecords,
    Duration retention,
    int connections,
    int largeTable,
    List<Integer> partitions,
    Duration network) {}
