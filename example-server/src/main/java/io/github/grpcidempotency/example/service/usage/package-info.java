/**
 * A scheduled job that every server starts and one server runs: the library's guarantees without
 * gRPC. It states what was created in a period, and by how many users, as a basis for charges.
 */
@NullMarked
package io.github.grpcidempotency.example.service.usage;

import org.jspecify.annotations.NullMarked;
