/**
 * The same guarantees without gRPC, for schedulers, message consumers, and handlers that manage
 * keys themselves.
 */
@NullMarked
package io.github.grpcidempotency.work;

import org.jspecify.annotations.NullMarked;
