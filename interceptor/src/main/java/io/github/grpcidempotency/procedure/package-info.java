/**
 * What a service says of its create RPCs: one {@link io.github.grpcidempotency.procedure.Procedure}
 * each, written in Java or read from the method's protobuf option, and the values that it chooses
 * from.
 */
@NullMarked
package io.github.grpcidempotency.procedure;

import org.jspecify.annotations.NullMarked;
