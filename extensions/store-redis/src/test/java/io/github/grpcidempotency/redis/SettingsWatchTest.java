package io.github.grpcidempotency.redis;

import static io.github.grpcidempotency.test.Program.REDIS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.github.grpcidempotency.internal.decision.FailureDecider;
import io.github.grpcidempotency.procedure.OutagePolicy;
import io.github.grpcidempotency.spi.Claim;
import io.github.grpcidempotency.spi.Claim.Settled;
import io.github.grpcidempotency.spi.ClaimRequest;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.store.StoreException;
import io.github.grpcidempotency.test.LogLines;
import io.github.grpcidempotency.test.NeedsProgram;
import io.lettuce.core.KillArgs;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Somebody changes the settings of a server that calls run on. */
@NeedsProgram(REDIS)
class SettingsWatchTest {
  private static final Duration ALWAYS = Duration.ofNanos(1);

  @AutoClose static final RedisProcess redis = RedisProcess.durable();

  private final ClaimRequest request = Calls.request();

  @AfterEach
  void setRight() {
    set("maxmemory", "0");
    set("maxmemory-policy", "noeviction");
    set("appendonly", "yes");
    set("appendfsync", "always");
    set("no-appendfsync-on-rewrite", "no");
  }

  @ParameterizedTest
  @CsvSource({
    "maxmemory-policy,allkeys-lru",
    "appendonly,no",
    "appendfsync,everysec",
    "no-appendfsync-on-rewrite,yes"
  })
  void aServerThatIsToldToForgetGetsNoMoreClaimsAndStillReplaysAndTakesAnswers(
      String setting, String value) {
    try (RedisIdempotencyStore store = verified(ALWAYS)) {
      ClaimRequest before = Calls.request();
      Calls.win(store, before).complete(Calls.ANSWER);
      Claim running = Calls.win(store, Calls.request());
      set(setting, value);

      StoreException refused = refusal(store);

      assertThat(refused).hasStackTraceContaining(setting + " is " + value);
      assertThat(FailureDecider.decide(refused, OutagePolicy.FAIL_OPEN))
          .as("nobody runs unguarded because of it")
          .isPresent();
      assertThat(store.claim(before)).isInstanceOf(ClaimResult.Recorded.class);
      assertThat(running.complete(Calls.ANSWER)).isEqualTo(Settled.DONE);
      setRight();
      Calls.win(store, request);
    }
  }

  @Test
  void anotherConnectionMayLeadToAServerWithOtherSettings() {
    try (RedisIdempotencyStore store = verified(Duration.ofDays(1))) {
      Calls.win(store, Calls.request());
      set("maxmemory-policy", "allkeys-lru");
      Calls.win(store, Calls.request());

      redis.with(commands -> commands.clientKill(KillArgs.Builder.typeNormal()));

      refusal(store);
    }
  }

  @Test
  void keysThatWereEvictedBetweenTwoChecksAreReported() {
    try (LogLines log = LogLines.listen();
        RedisIdempotencyStore store = verified(ALWAYS)) {
      Calls.win(store, Calls.request());
      set("maxmemory-policy", "allkeys-lru");
      set("maxmemory", "1");
      setRight();

      Calls.win(store, request);

      assertThat(log.all()).anyMatch(line -> line.contains("ran out of memory and deleted"));
    }
  }

  @Test
  void unexpectedReplicasAreReported() {
    try (LogLines log = LogLines.listen();
        RedisIdempotencyStore store = verified(ALWAYS);
        RedisProcess replica = RedisProcess.inMemory()) {
      Calls.win(store, Calls.request());
      assertThat(log.warnings()).isEmpty();
      replica.replicate(redis);

      Calls.win(store, request);

      assertThat(log.warnings()).anyMatch(line -> line.contains("acknowledgedBy"));
    }
  }

  private StoreException refusal(RedisIdempotencyStore store) {
    StoreException refused =
        catchThrowableOfType(StoreException.class, () -> store.claim(Calls.request()));
    assertThat(refused).isNotNull();
    return refused;
  }

  private static RedisIdempotencyStore verified(Duration interval) {
    RedisIdempotencyStore store =
        RedisIdempotencyStore.builder(redis.uri()).settingsInterval(interval).build();
    store.verify(List.of(), Optional.empty());
    return store;
  }

  private static void set(String name, String value) {
    redis.with(commands -> commands.configSet(name, value));
  }
}
