/**
 * Who calls with which key, and what was asked: the values that name one operation. A raw key is
 * checked by a {@link io.github.grpcidempotency.key.KeyFormat} and scoped by the {@link
 * io.github.grpcidempotency.key.Caller}; the {@link io.github.grpcidempotency.key.Fingerprint}
 * tells two requests under one key apart.
 */
@NullMarked
package io.github.grpcidempotency.key;

import org.jspecify.annotations.NullMarked;
