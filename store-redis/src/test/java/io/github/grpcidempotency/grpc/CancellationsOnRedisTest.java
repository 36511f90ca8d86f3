package io.github.grpcidempotency.grpc;

import io.github.grpcidempotency.redis.NeedsRedis;
import io.github.grpcidempotency.store.IdempotencyStore;
import io.github.grpcidempotency.thing.Transport;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Cancelled calls, with Redis behind. */
@NeedsRedis
class CancellationsOnRedisTest extends CancellationsTest {
  @RegisterExtension static final RedisJourney redis = new RedisJourney();

  static Stream<Transport> transports() {
    return Stream.of(Transport.LOOPBACK);
  }

  CancellationsOnRedisTest(Transport transport) {
    super(transport);
  }

  @Override
  IdempotencyStore reliableStore() {
    return redis.newStore();
  }
}
