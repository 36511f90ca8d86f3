/** The gRPC service under measurement: one create RPC, once per way of making it idempotent. */
@NullMarked
package io.github.grpcidempotency.benchmarks.service;

import org.jspecify.annotations.NullMarked;
