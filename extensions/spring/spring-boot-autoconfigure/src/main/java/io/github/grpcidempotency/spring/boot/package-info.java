/** Configures the library in a Spring Boot application. */
@NullMarked
package io.github.grpcidempotency.spring.boot;

import org.jspecify.annotations.NullMarked;
