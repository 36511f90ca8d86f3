/**
 * Kills, stops and cuts off servers and their database while clients call, and holds the history of
 * it all against what the library promises.
 */
@NullMarked
package io.github.grpcidempotency.torture;

import org.jspecify.annotations.NullMarked;
