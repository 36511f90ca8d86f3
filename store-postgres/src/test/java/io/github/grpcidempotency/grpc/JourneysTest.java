package io.github.grpcidempotency.grpc;

/** The tests of calls, with PostgreSQL behind. */
class JourneysTest extends EveryJourney {}
