package io.github.grpcidempotency.grpc;

import io.github.grpcidempotency.redis.NeedsRedis;
import io.github.grpcidempotency.store.IdempotencyStore;
import io.github.grpcidempotency.thing.Transport;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Handlers that fail, with Redis behind. */
@NeedsRedis
@ParameterizedClass
@EnumSource(value = Transport.class, names = "LOOPBACK")
class FailuresOnRedisTest extends FailuresTest {
  @RegisterExtension static final RedisJourney redis = new RedisJourney();

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
