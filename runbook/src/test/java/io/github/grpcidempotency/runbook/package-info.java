/** Runs what the pages of {@code docs/operations} tell operators to run. */
@NullMarked
package io.github.grpcidempotency.runbook;

import org.jspecify.annotations.NullMarked;
