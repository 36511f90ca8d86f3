/**
 * The gRPC service {@code google.longrunning.Operations}, with which clients follow their earlier
 * calls by the ids of their operations.
 */
@NullMarked
package io.github.grpcidempotency.longrunning;

import org.jspecify.annotations.NullMarked;
