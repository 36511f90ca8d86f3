/** The libraries that are measured beside this one, each set up as its own documentation says. */
@NullMarked
package io.github.grpcidempotency.benchmarks.peers;

import org.jspecify.annotations.NullMarked;
