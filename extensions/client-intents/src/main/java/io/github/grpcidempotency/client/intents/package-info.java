/** Intents that are stored in a client's PostgreSQL database until they have an answer. */
@NullMarked
package io.github.grpcidempotency.client.intents;

import org.jspecify.annotations.NullMarked;
