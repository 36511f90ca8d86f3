/**
 * The rules, as pure functions: what to do with a call, given the result of its claim, and what to
 * do with its reservation, given how its handler ended. Depends on neither gRPC nor SQL.
 */
@NullMarked
package io.github.grpcidempotency.internal.decision;

import org.jspecify.annotations.NullMarked;
