/** Access to fields of messages by their names, and ids that are computed from a key. */
@NullMarked
package io.github.grpcidempotency.key.internal;

import org.jspecify.annotations.NullMarked;
