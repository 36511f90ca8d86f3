/**
 * The organisation API: six gRPC services, and the descriptors that make their creates safe to
 * retry.
 */
@NullMarked
package io.github.grpcidempotency.example.service.organization;

import org.jspecify.annotations.NullMarked;
