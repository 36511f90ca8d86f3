/** Gives a test of a Spring Boot application a PostgreSQL database with its roles. */
@NullMarked
package io.github.grpcidempotency.spring.test;

import org.jspecify.annotations.NullMarked;
