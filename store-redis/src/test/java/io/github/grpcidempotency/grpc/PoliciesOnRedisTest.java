package io.github.grpcidempotency.grpc;

import io.github.grpcidempotency.redis.NeedsRedis;
import io.github.grpcidempotency.store.IdempotencyStore;
import io.github.grpcidempotency.thing.Transport;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** What procedures ask for, with Redis behind. */
@NeedsRedis
@ParameterizedClass
@EnumSource(value = Transport.class, names = "LOOPBACK")
class PoliciesOnRedisTest extends PoliciesTest {
  @RegisterExtension static final RedisJourney redis = new RedisJourney();

  PoliciesOnRedisTest(Transport transport) {
    super(transport);
  }

  @Override
  IdempotencyStore reliableStore() {
    return redis.newStore();
  }
}
