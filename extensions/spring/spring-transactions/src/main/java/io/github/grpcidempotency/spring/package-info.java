/** Uses Spring's transactions for claims. */
@NullMarked
package io.github.grpcidempotency.spring;

import org.jspecify.annotations.NullMarked;
