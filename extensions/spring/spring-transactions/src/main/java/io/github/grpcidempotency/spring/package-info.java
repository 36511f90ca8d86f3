/** Lets claims be transactions of Spring. */
@NullMarked
package io.github.grpcidempotency.spring;

import org.jspecify.annotations.NullMarked;
