/**
 * The organisation API: six gRPC services, and the one table of descriptors that makes their
 * creates safe to retry.
 */
@NullMarked
package io.github.grpcidempotency.example.service.organization;

import org.jspecify.annotations.NullMarked;
