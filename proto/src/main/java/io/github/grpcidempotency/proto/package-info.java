/**
 * The names in the wire contract, the mark of what is experimental, and the key of the current
 * call, for servers and clients.
 */
package io.github.grpcidempotency.proto;
