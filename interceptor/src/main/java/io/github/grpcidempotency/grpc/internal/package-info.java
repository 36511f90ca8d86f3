/**
 * The errors and the metadata of the wire contract, and the services with which clients find their
 * earlier calls.
 */
@NullMarked
package io.github.grpcidempotency.grpc.internal;

import org.jspecify.annotations.NullMarked;
