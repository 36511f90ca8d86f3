/**
 * The gRPC services with which clients find their earlier calls: by key, in {@code
 * idempotency.v1.Recovery}, or by operation, in {@code google.longrunning.Operations}.
 */
@NullMarked
package io.github.grpcidempotency.internal.service;

import org.jspecify.annotations.NullMarked;
