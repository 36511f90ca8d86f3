@NullMarked
package io.github.grpcidempotency.spring.test;

import org.jspecify.annotations.NullMarked;
