/** Orders on Spring Boot 3.5. */
@NullMarked
package io.github.grpcidempotency.hosts.springboot3;

import org.jspecify.annotations.NullMarked;
