package io.github.grpcidempotency.grpc;

import io.github.grpcidempotency.redis.NeedsRedis;
import io.github.grpcidempotency.store.IdempotencyStore;
import io.github.grpcidempotency.thing.Transport;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Answers and replays, with Redis behind. */
@NeedsRedis
@ParameterizedClass
@EnumSource(value = Transport.class, names = "LOOPBACK")
class AnswersOnRedisTest extends AnswersTest {
  @RegisterExtension static final RedisJourney redis = new RedisJourney();

  AnswersOnRedisTest(Transport transport) {
    super(transport);
  }

  @Override
  IdempotencyStore reliableStore() {
    return redis.newStore();
  }

  /** Not here: nobody can put the clock of Redis forward. */
  @Override
  void onceARecordHasExpiredItsKeyIsFree() {}
}
