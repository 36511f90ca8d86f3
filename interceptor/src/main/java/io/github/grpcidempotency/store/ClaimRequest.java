package io.github.grpcidempotency.store;

import io.github.grpcidempotency.key.Fingerprint;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.procedure.Procedure;

/**
 * A call's wish to be the one that runs.
 *
 * @param key the operation, within its caller's scope
 * @param procedure what is called
 * @param fingerprint what is asked
 */
public record ClaimRequest(IdempotencyKey key, Procedure procedure, Fingerprint fingerprint) {}
