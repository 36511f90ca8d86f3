/**
 * How a webhook's delivery proves where it comes from, and which event it tells of: the signature
 * schemes of four providers, and the key source that asks them.
 */
@NullMarked
package io.github.grpcidempotency.example.service.webhook;

import org.jspecify.annotations.NullMarked;
