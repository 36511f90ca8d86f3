package io.github.grpcidempotency.postgres.internal.database;

import io.github.grpcidempotency.postgres.ClaimLostException;
import io.github.grpcidempotency.postgres.HostTransactions;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import javax.sql.DataSource;

/**
 * The settings of a store. Only the package of the public API can create the exception for a
 * handler that has lost its claim.
 *
 * @param pool the service's pool, on whose connections handlers write through the claim
 * @param connections the store's own connections, for all other statements
 * @param lost creates the exception for a reservation that another server has taken over
 * @param notifies whether servers notify each other when an awaited operation ends
 * @param timeLines whether a reservation is bound to the time line of the database
 * @param smallestBatch the smallest number of calls that are sent as a batch; 1 is for tests
 */
public record StoreSettings(
    DataSource pool,
    StoreConnections connections,
    Optional<HostTransactions> hosts,
    Function<UUID, ClaimLostException> lost,
    String schema,
    String serverName,
    boolean notifies,
    boolean timeLines,
    int smallestBatch) {}
