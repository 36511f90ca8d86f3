@NullMarked
package io.github.grpcidempotency.spring.example;

import org.jspecify.annotations.NullMarked;
