/**
 * Keys, intents, retries and replies for clients of idempotent methods.
 *
 * <p>A key belongs to an intent, not to a call: it is made once, in an {@link
 * io.github.grpcidempotency.client.Intent}, and is the same over gRPC's own attempts, the {@link
 * io.github.grpcidempotency.client.RetryingCaller}'s, and, kept in an {@link
 * io.github.grpcidempotency.client.IntentStore}, over crashes of the client. {@link
 * io.github.grpcidempotency.client.IdempotencyClientInterceptor} puts it where the method's option
 * says.
 */
@NullMarked
package io.github.grpcidempotency.client;

import org.jspecify.annotations.NullMarked;
