/**
 * The path of one call: {@link io.github.grpcidempotency.internal.call.KeyedCall} states the
 * algorithm. Depends on neither gRPC nor SQL; a {@link
 * io.github.grpcidempotency.internal.call.Transport} runs the handler and sends the answer.
 */
@NullMarked
package io.github.grpcidempotency.internal.call;

import org.jspecify.annotations.NullMarked;
