@NullMarked
package io.github.grpcidempotency.spring.boot;

import org.jspecify.annotations.NullMarked;
