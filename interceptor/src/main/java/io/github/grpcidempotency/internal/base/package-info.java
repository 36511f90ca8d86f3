/** What packages of every layer use. Depends on no other package. */
@NullMarked
package io.github.grpcidempotency.internal.base;

import org.jspecify.annotations.NullMarked;
