package io.github.grpcidempotency.grpc;

import io.github.grpcidempotency.redis.NeedsRedis;

/** The tests of calls, with Redis behind. */
@NeedsRedis
class JourneysTest extends EveryJourney {}
