package io.github.grpcidempotency.client;

/**
 * The server and the method of an intent.
 *
 * @param target the user's name for the server
 * @param method the full name of the method
 */
record Route(String target, String method) {}
