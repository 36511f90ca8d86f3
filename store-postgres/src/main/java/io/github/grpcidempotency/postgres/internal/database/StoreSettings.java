package io.github.grpcidempotency.postgres.internal.database;

import io.github.grpcidempotency.postgres.spi.HostTransactions;
import java.util.Optional;
import javax.sql.DataSource;

/**
 * The settings of a store.
 *
 * @param pool the service's pool, on whose connections handlers write through the claim
 * @param connections the store's own connections, for all other statements
 * @param notifies whether servers notify each other when an awaited operation ends
 * @param timeLines whether a reservation is bound to the time line of the database
 * @param smallestBatch the smallest number of calls that are sent as a batch; 1 is for tests
 */
public record StoreSettings(
    DataSource pool,
    StoreConnections connections,
    Optional<HostTransactions> hosts,
    String schema,
    String serverName,
    boolean notifies,
    boolean timeLines,
    int smallestBatch) {}
