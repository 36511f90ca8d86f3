package io.github.grpcidempotency.example.server;

import java.time.Duration;
import java.util.Optional;

/**
 * How the server runs.
 *
 * @param port 0 for any that is free
 * @param lease how long a crashed server's call blocks its key
 * @param ttl how long records answer retries; empty for what each procedure says itself
 * @param outboxDelay how long the work behind a create rests before it is done
 */
public record Settings(int port, Duration lease, Optional<Duration> ttl, Duration outboxDelay) {}
