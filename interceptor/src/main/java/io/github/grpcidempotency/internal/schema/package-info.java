/** The protobuf schema of methods and of their messages, and access to fields by their names. */
@NullMarked
package io.github.grpcidempotency.internal.schema;

import org.jspecify.annotations.NullMarked;
