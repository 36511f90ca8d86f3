/**
 * The descriptors of a service's RPCs that create or delete resources: one {@link
 * io.github.grpcidempotency.procedure.Procedure} for each, in Java or from the method's protobuf
 * option, and their policies.
 */
@NullMarked
package io.github.grpcidempotency.procedure;

import org.jspecify.annotations.NullMarked;
