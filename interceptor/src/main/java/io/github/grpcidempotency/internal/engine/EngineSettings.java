package io.github.grpcidempotency.internal.engine;

import io.github.grpcidempotency.internal.event.DecisionLog;
import io.github.grpcidempotency.internal.event.Listeners;
import io.github.grpcidempotency.internal.waiting.WaitLimits;
import java.time.Duration;
import java.util.concurrent.Executor;

/**
 * The settings of all engines of an interceptor.
 *
 * @param callLimit how long a handler may run, if its call has no longer deadline
 * @param waitLimits how many calls may wait, for all shards together
 */
public record EngineSettings(
    Listeners listeners,
    DecisionLog decisions,
    Duration callLimit,
    WaitLimits waitLimits,
    Executor executor) {}
