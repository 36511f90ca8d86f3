/**
 * A scheduled job, which every server starts and one runs: the library's promises without gRPC. It
 * states what was created in a period, and by how many users, for somebody to charge money by.
 */
@NullMarked
package io.github.grpcidempotency.example.service.usage;

import org.jspecify.annotations.NullMarked;
