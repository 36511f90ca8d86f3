@NullMarked
package io.github.grpcidempotency.spring.example.demo;

import org.jspecify.annotations.NullMarked;
