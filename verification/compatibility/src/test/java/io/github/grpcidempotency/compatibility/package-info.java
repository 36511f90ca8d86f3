/** The library on older and newer versions of what it shares with its hosts. */
@NullMarked
package io.github.grpcidempotency.compatibility;

import org.jspecify.annotations.NullMarked;
