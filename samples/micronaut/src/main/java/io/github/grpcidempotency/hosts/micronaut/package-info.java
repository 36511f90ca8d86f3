/** Orders on Micronaut: beans for the interceptor, and claims that are Micronaut's transactions. */
@NullMarked
package io.github.grpcidempotency.hosts.micronaut;

import org.jspecify.annotations.NullMarked;
