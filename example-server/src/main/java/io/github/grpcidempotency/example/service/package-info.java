/**
 * The service: what its author writes to make its creates safe to retry. Start with {@link
 * io.github.grpcidempotency.example.service.OrganizationApi}. The code that runs it is in {@code
 * run}, and the demo is separate too.
 */
@NullMarked
package io.github.grpcidempotency.example.service;

import org.jspecify.annotations.NullMarked;
