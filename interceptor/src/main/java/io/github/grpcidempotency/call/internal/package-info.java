/**
 * The path of one call: {@link io.github.grpcidempotency.call.internal.KeyedCall} states the
 * algorithm. Depends on neither gRPC nor SQL; a {@link
 * io.github.grpcidempotency.call.internal.Transport} runs the handler and sends the answer.
 */
@NullMarked
package io.github.grpcidempotency.call.internal;

import org.jspecify.annotations.NullMarked;
