/**
 * A scheduled job that every server starts and one server runs: the library's guarantees without
 * gRPC. It counts the creates of a period, and their users, as a basis for charges.
 */
@NullMarked
package io.github.grpcidempotency.example.service.usage;

import org.jspecify.annotations.NullMarked;
