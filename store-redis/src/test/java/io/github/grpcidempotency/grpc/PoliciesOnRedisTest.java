package io.github.grpcidempotency.grpc;

import io.github.grpcidempotency.redis.NeedsRedis;
import io.github.grpcidempotency.store.IdempotencyStore;
import io.github.grpcidempotency.thing.Transport;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What procedures ask for, with Redis behind. */
@NeedsRedis
class PoliciesOnRedisTest extends PoliciesTest {
  @RegisterExtension static final RedisJourney redis = new RedisJourney();

  static Stream<Transport> transports() {
    return Stream.of(Transport.LOOPBACK);
  }

  PoliciesOnRedisTest(Transport transport) {
    super(transport);
  }

  @Override
  IdempotencyStore reliableStore() {
    return redis.newStore();
  }
}
