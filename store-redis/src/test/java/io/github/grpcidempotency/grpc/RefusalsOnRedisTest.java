package io.github.grpcidempotency.grpc;

import io.github.grpcidempotency.redis.NeedsRedis;
import io.github.grpcidempotency.store.IdempotencyStore;
import io.github.grpcidempotency.thing.Transport;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Refused calls, with Redis behind. */
@NeedsRedis
class RefusalsOnRedisTest extends RefusalsTest {
  @RegisterExtension static final RedisJourney redis = new RedisJourney();

  static Stream<Transport> transports() {
    return Stream.of(Transport.LOOPBACK);
  }

  RefusalsOnRedisTest(Transport transport) {
    super(transport);
  }

  @Override
  IdempotencyStore reliableStore() {
    return redis.newStore();
  }
}
