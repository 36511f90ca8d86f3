package io.github.grpcidempotency.redis;

import static io.github.grpcidempotency.test.Program.REDIS;
import static org.awaitility.Awaitility.await;

import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.Claim.Settled;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.CompletionWatch;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.test.NeedsProgram;
import io.lettuce.core.KillArgs;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** How a server detects the end of another server's call. */
@NeedsProgram(REDIS)
class RedisCompletionWatchTest {
  @AutoClose static final RedisProcess redis = RedisProcess.inMemory();

  @AutoClose
  private final RedisIdempotencyStore store = RedisIdempotencyStore.builder(redis.uri()).build();

  private final Queue<IdempotencyKey> ended = new ConcurrentLinkedQueue<>();

  @AutoClose private final CompletionWatch watch = store.watch(ended::add);

  @Test
  void aCallWhoseServerHasCrashedIsReportedOnceItsLeaseHasEnded() {
    ClaimRequest abandoned = Calls.request();
    try (RedisIdempotencyStore crashed =
        RedisIdempotencyStore.builder(redis.uri()).lease(Duration.ofMillis(600)).build()) {
      Calls.win(crashed, abandoned);
    }

    watch.add(abandoned.key());

    await().until(() -> ended.contains(abandoned.key()));
  }

  @Test
  void aBrokenConnectionIsReplaced() {
    ClaimRequest request = Calls.request();
    Claim claim = Calls.win(store, request);
    watch.add(request.key());

    redis.with(commands -> commands.clientKill(KillArgs.Builder.typeNormal()));
    // The store's connection, which the watch uses too, may not have noticed that it was closed.
    await()
        .ignoreException(StoreException.class)
        .until(() -> claim.complete(Calls.ANSWER) == Settled.DONE);

    await().until(() -> ended.contains(request.key()));
  }
}
