package io.github.grpcidempotency.client;

import java.time.Duration;

/**
 * Intents that a worker does not carry out, because nobody has named their target and method to it.
 * They are another worker's, or were written under a name that has changed since.
 *
 * @param target the name of the server under which they were written
 * @param method the full name of the method
 * @param intents how many there are
 * @param oldest the age of the oldest
 */
public record UnassignedIntents(String target, String method, long intents, Duration oldest) {}
