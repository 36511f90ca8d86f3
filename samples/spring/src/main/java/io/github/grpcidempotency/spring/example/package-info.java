/** A shop in Spring Boot, whose methods are safe to retry. */
@NullMarked
package io.github.grpcidempotency.spring.example;

import org.jspecify.annotations.NullMarked;
