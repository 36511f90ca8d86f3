/** The calls of functions that the service passes to the library. Depends on no other package. */
@NullMarked
package io.github.grpcidempotency.internal.function;

import org.jspecify.annotations.NullMarked;
