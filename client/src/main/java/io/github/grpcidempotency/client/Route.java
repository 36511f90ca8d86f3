package io.github.grpcidempotency.client;

/**
 * Where an intent goes.
 *
 * @param target the name that the user has given to the server
 * @param method the full name of the method
 */
record Route(String target, String method) {}
