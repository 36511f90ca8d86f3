/**
 * The descriptions of a service's create RPCs: one {@link
 * io.github.grpcidempotency.procedure.Procedure} for each, in Java or from the method's protobuf
 * option, and the policies to choose from.
 */
@NullMarked
package io.github.grpcidempotency.procedure;

import org.jspecify.annotations.NullMarked;
