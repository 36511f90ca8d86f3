/** Fields of messages by the names that options and descriptors give them. */
@NullMarked
package io.github.grpcidempotency.internal.field;

import org.jspecify.annotations.NullMarked;
