/** Another company's service, which the shop calls. It does not use the library. */
@NullMarked
package io.github.grpcidempotency.spring.example.provider;

import org.jspecify.annotations.NullMarked;
