package io.github.grpcidempotency.grpc;

import static io.github.grpcidempotency.test.Program.REDIS;

import io.github.grpcidempotency.test.NeedsProgram;

/** The tests of calls, with Redis behind. */
@NeedsProgram(REDIS)
class JourneysTest extends EveryJourney {}
