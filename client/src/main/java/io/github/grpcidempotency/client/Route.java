package io.github.grpcidempotency.client;

/**
 * Where an intent goes.
 *
 * @param target the server, by the name that its user has given it
 * @param method the full name of the method
 */
record Route(String target, String method) {}
