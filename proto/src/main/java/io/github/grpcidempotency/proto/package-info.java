/**
 * The names in the wire contract, and the mark of what is experimental, for servers and clients.
 */
package io.github.grpcidempotency.proto;
