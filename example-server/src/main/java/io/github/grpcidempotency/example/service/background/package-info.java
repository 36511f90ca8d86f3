/** The background work of a server. */
@NullMarked
package io.github.grpcidempotency.example.service.background;

import org.jspecify.annotations.NullMarked;
