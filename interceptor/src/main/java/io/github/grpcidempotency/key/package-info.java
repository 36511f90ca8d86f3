/**
 * Keys, callers and fingerprints: the values that identify one operation. A {@link
 * io.github.grpcidempotency.key.KeySource} finds the key, a {@link
 * io.github.grpcidempotency.key.KeyFormat} checks it, and the {@link
 * io.github.grpcidempotency.key.Caller} scopes it. The {@link
 * io.github.grpcidempotency.key.Fingerprint} distinguishes two requests with the same key.
 */
@NullMarked
package io.github.grpcidempotency.key;

import org.jspecify.annotations.NullMarked;
