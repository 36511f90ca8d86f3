package io.github.grpcidempotency.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.store.Claim;
import io.github.grpcidempotency.store.ClaimRequest;
import io.github.grpcidempotency.store.CompletionWatch;
import io.lettuce.core.KillArgs;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** How a server hears of the end of another server's call. */
@NeedsRedis
class RedisCompletionWatchTest {
  @AutoClose static final RedisProcess redis = RedisProcess.inMemory();

  @AutoClose
  private final RedisIdempotencyStore store = RedisIdempotencyStore.builder(redis.uri()).build();

  private final Queue<IdempotencyKey> ended = new ConcurrentLinkedQueue<>();

  @AutoClose private final CompletionWatch watch = store.watch(ended::add);

  private final ClaimRequest request = Calls.request();
  private final Claim claim = Calls.win(store, request);

  @Test
  void theEndOfACallIsPublished() {
    watch.add(request.key());
    awaitSubscribers(1);

    // The call still runs, so whoever asks is told so: only the message says that it has ended.
    redis.with(commands -> commands.publish(nameOf(request), ""));

    await().until(() -> ended.contains(request.key()));
  }

  @Test
  void aCompletionAndAReleaseArePublished() {
    ClaimRequest other = Calls.request();
    try (Listener listener = new Listener(redis, nameOf(request), nameOf(other))) {
      claim.complete(Calls.ANSWER);
      Calls.win(store, other).release();

      await().until(() -> listener.heard().size() == 2);
    }
  }

  @Test
  void anEndThatWasNotPublishedIsDetected() {
    watch.add(request.key());
    awaitSubscribers(1);

    redis.with(commands -> commands.del(nameOf(request)));

    await().until(() -> ended.contains(request.key()));
  }

  @Test
  void aCallWhoseServerHasCrashedIsReportedOnceItsLeaseHasEnded() {
    ClaimRequest abandoned = Calls.request();
    try (RedisIdempotencyStore crashed =
        RedisIdempotencyStore.builder(redis.uri()).lease(Duration.ofMillis(150)).build()) {
      Calls.win(crashed, abandoned);
    }

    watch.add(abandoned.key());

    await().until(() -> ended.contains(abandoned.key()));
  }

  @Test
  void aBrokenConnectionIsReplaced() {
    watch.add(request.key());
    awaitSubscribers(1);

    redis.with(commands -> commands.clientKill(KillArgs.Builder.typePubsub()));
    awaitSubscribers(1);
    claim.complete(Calls.ANSWER);

    await().until(() -> ended.contains(request.key()));
  }

  @Test
  void whatIsNoLongerWatchedIsNoLongerSubscribed() {
    watch.add(request.key());
    awaitSubscribers(1);

    watch.remove(request.key());

    awaitSubscribers(0);
    claim.release();
    assertThat(ended).isEmpty();
  }

  private void awaitSubscribers(long number) {
    String name = nameOf(request);
    await()
        .atMost(Duration.ofSeconds(20))
        .until(() -> redis.with(commands -> commands.pubsubNumsub(name)).containsValue(number));
  }

  private static String nameOf(ClaimRequest request) {
    return new RecordKey("idempotency").nameOf(request.key());
  }
}
