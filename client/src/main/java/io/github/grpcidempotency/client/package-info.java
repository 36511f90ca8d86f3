/**
 * Keys, intents, retries and replies for clients of idempotent methods.
 *
 * <p>A key belongs to an intent, not to a call. It is created once, in an {@link
 * io.github.grpcidempotency.client.Intent}. It stays the same in gRPC's built-in retries and in the
 * attempts of a {@link io.github.grpcidempotency.client.RetryingCaller}. {@link
 * io.github.grpcidempotency.client.IdempotencyClientInterceptor} puts it into the header or field
 * that the method's option names.
 */
@NullMarked
package io.github.grpcidempotency.client;

import org.jspecify.annotations.NullMarked;
