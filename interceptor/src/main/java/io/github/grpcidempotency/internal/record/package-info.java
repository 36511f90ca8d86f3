/**
 * What is recorded of a call, and the answer to a retry that results from it. Depends on neither
 * gRPC nor SQL.
 */
@NullMarked
package io.github.grpcidempotency.internal.record;

import org.jspecify.annotations.NullMarked;
