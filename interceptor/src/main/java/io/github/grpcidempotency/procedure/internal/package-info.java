/** The protobuf schema of methods, and functions of the service that may throw. */
@NullMarked
package io.github.grpcidempotency.procedure.internal;

import org.jspecify.annotations.NullMarked;
