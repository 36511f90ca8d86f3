package io.github.grpcidempotency.client;

import java.time.Duration;

/**
 * Intents that a worker does not send, because their target and method are not registered with it.
 * Another worker may send these intents, or the target or method was renamed after they were
 * written.
 *
 * @param target the name of the server under which they were written
 * @param method the full name of the method
 * @param intents the number of these intents
 * @param oldest the age of the oldest
 */
public record UnassignedIntents(String target, String method, long intents, Duration oldest) {}
