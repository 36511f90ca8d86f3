/**
 * The gRPC service with which clients find their earlier calls by key, and what a service that
 * finds them by operation needs.
 */
@NullMarked
package io.github.grpcidempotency.internal.service;

import org.jspecify.annotations.NullMarked;
