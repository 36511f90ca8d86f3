/** Encryption of recorded answers with Tink, an optional dependency. */
@NullMarked
package io.github.grpcidempotency.tink;

import org.jspecify.annotations.NullMarked;
