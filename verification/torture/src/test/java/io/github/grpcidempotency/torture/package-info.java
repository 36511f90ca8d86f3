/**
 * Kills, stops and cuts off servers and their database while clients call, and checks the history
 * against what the library guarantees.
 */
@NullMarked
package io.github.grpcidempotency.torture;

import org.jspecify.annotations.NullMarked;
