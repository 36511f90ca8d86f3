/**
 * Checks a webhook's delivery and finds its event: the signature schemes of two providers, and the
 * key source that uses them.
 */
@NullMarked
package io.github.grpcidempotency.example.service.webhook;

import org.jspecify.annotations.NullMarked;
