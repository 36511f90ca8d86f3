/**
 * The rules, as pure functions: what to do with a call, given what its claim met, and what to do
 * with its reservation, given how its handler ended. Knows neither gRPC nor SQL.
 */
@NullMarked
package io.github.grpcidempotency.internal.decision;

import org.jspecify.annotations.NullMarked;
