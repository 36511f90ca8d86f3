/**
 * Stands in for a cloud provider: another service, which keeps idempotency keys of its own and has
 * never heard of this library.
 */
@NullMarked
package io.github.grpcidempotency.example.provider;

import org.jspecify.annotations.NullMarked;
