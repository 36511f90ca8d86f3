package io.github.grpcidempotency.grpc;

import io.github.grpcidempotency.redis.NeedsRedis;
import io.github.grpcidempotency.store.IdempotencyStore;
import io.github.grpcidempotency.thing.Transport;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Handlers that fail, with Redis behind. */
@NeedsRedis
class FailuresOnRedisTest extends FailuresTest {
  @RegisterExtension static final RedisJourney redis = new RedisJourney();

  static Stream<Transport> transports() {
    return Stream.of(Transport.LOOPBACK);
  }

  FailuresOnRedisTest(Transport transport) {
    super(transport);
  }

  @Override
  IdempotencyStore reliableStore() {
    return redis.newStore();
  }

  /** Not here: nobody can put the clock of Redis forward. */
  @Override
  void anUnknownOutcomeHoldsTheKeyUntilTheLeaseEnds() {}
}
