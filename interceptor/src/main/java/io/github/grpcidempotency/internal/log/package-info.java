/** How the library logs what repeats: so that the log of an outage can be read. */
@NullMarked
package io.github.grpcidempotency.internal.log;

import org.jspecify.annotations.NullMarked;
