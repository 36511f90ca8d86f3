/**
 * What the calls of one store share: its checks, its threads, and the access to everything below.
 * Depends on neither gRPC nor SQL.
 */
@NullMarked
package io.github.grpcidempotency.internal.engine;

import org.jspecify.annotations.NullMarked;
