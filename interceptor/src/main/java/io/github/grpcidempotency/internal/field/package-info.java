/** Access to fields of messages by their names. */
@NullMarked
package io.github.grpcidempotency.internal.field;

import org.jspecify.annotations.NullMarked;
