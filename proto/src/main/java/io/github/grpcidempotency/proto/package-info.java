/** The names in the wire contract, for servers and clients. */
package io.github.grpcidempotency.proto;
