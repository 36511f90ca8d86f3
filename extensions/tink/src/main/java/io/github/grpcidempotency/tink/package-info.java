/** Encryption of recorded answers with Tink. */
@NullMarked
package io.github.grpcidempotency.tink;

import org.jspecify.annotations.NullMarked;
