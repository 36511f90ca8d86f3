/**
 * Stands in for a cloud provider: another service, which keeps its own idempotency keys and does
 * not use this library.
 */
@NullMarked
package io.github.grpcidempotency.example.provider;

import org.jspecify.annotations.NullMarked;
