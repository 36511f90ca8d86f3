/**
 * The service: what an author of one writes to make its creates safe to retry. Start with {@link
 * io.github.grpcidempotency.example.service.OrganizationApi}. What runs it stands apart, in {@code
 * run}, and so does the demo.
 */
@NullMarked
package io.github.grpcidempotency.example.service;

import org.jspecify.annotations.NullMarked;
