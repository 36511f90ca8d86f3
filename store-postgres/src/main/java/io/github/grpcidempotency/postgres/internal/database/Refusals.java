package io.github.grpcidempotency.postgres.internal.database;

import io.github.grpcidempotency.postgres.ClaimLostException;
import io.github.grpcidempotency.postgres.ClaimPreemptedException;
import java.sql.SQLException;
import java.util.UUID;
import java.util.function.Function;

/**
 * Creates the exceptions that handlers get if they have lost their claim. Only the package of the
 * public API can call their constructors.
 *
 * @param preempted for a claim that was sent with the handler's first statement
 * @param lost for a reservation that another server has taken over
 */
public record Refusals(
    Function<SQLException, ClaimPreemptedException> preempted,
    Function<UUID, ClaimLostException> lost) {}
