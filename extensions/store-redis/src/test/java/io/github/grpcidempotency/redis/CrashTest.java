package io.github.grpcidempotency.redis;

import static io.github.grpcidempotency.test.Program.CC;
import static io.github.grpcidempotency.test.Program.REDIS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.grpcidempotency.test.NeedsProgram;
import java.time.Duration;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Redis is killed under load, or the power of its machine fails, and it starts again on what it has
 * kept.
 */
@NeedsProgram(REDIS)
class CrashTest {
  private static final int FEW = 2;
  private static final int MANY = 25;

  @Test
  void aServerThatFlushesEveryWriteLosesAndDoublesNothing() throws Exception {
    assertThat(underKills(FEW, Durability.everyWrite(), always())).matches(Workload.Found::isSound);
  }

  /** This shows that the check sees a loss. */
  @Test
  void aServerThatKeepsNothingLosesWhatItHasAnswered() throws Exception {
    Workload.Found found = underKills(FEW, Durability.inMemory(), never());

    assertThat(found.lost()).isPositive();
    assertThat(found.stuck()).isZero();
  }

  @Test
  @NeedsProgram(CC)
  void aPowerFailureTakesNothingFromAServerThatFlushesEveryWrite() throws Exception {
    assertThat(underPowerFailures(1, Durability.everyWrite())).matches(Workload.Found::isSound);
  }

  @Test
  @Tag("torture")
  @NeedsProgram(CC)
  void manyPowerFailuresTakeNothingFromAServerThatFlushesEveryWrite() throws Exception {
    assertThat(underPowerFailures(MANY, Durability.everyWrite())).matches(Workload.Found::isSound);
  }

  /** This shows that the power takes something away. */
  @Test
  @Tag("torture")
  @NeedsProgram(CC)
  void manyPowerFailuresTakeTheLastSecondsFromAServerThatFlushesEverySecond() throws Exception {
    Workload.Found found =
        underPowerFailures(MANY, Durability.everySecond(), "--appendfsync", "everysec");

    assertThat(found.lost()).isPositive();
    assertThat(found.stuck()).isZero();
  }

  @Test
  @Tag("torture")
  void manyCrashesOfAServerThatFlushesEveryWriteLoseAndDoubleNothing() throws Exception {
    assertThat(underKills(MANY, Durability.everyWrite(), always()))
        .matches(Workload.Found::isSound);
  }

  /** What the kernel has got outlives the process. */
  @Test
  @Tag("torture")
  void manyCrashesOfAServerThatFlushesEverySecondLoseLittle() throws Exception {
    Workload.Found found = underKills(MANY, Durability.everySecond(), everySecond());

    assertThat(found.stuck()).isZero();
    assertThat(found.lost()).isLessThan(found.answered());
  }

  @Test
  @Tag("torture")
  void manyCrashesOfAServerThatKeepsNothingLoseWhatItHasAnswered() throws Exception {
    assertThat(underKills(MANY, Durability.inMemory(), never()).lost()).isPositive();
  }

  @Test
  @Tag("torture")
  void manyCrashesOfAServerThatTakesSnapshotsLoseWhatIsYoungerThanTheLast() throws Exception {
    RedisProcess snapshots = RedisProcess.inMemory("--save", "1", "1");
    assertThat(underKills(MANY, Durability.inMemory(), snapshots).lost()).isPositive();
  }

  private static RedisProcess always() {
    return RedisProcess.durableOnDisk();
  }

  private static RedisProcess everySecond() {
    return RedisProcess.durableOnDisk("--appendfsync", "everysec");
  }

  private static RedisProcess never() {
    return RedisProcess.inMemory();
  }

  private static Workload.Found underKills(int kills, Durability durability, RedisProcess redis)
      throws Exception {
    return under(kills, "kills", RedisProcess::kill, durability, redis);
  }

  private static Workload.Found underPowerFailures(
      int failures, Durability durability, String... settings) throws Exception {
    try (PowerSupply power = new PowerSupply()) {
      RedisProcess redis = RedisProcess.on(power, settings);
      return under(failures, "power failures", each -> each.losePower(power), durability, redis);
    }
  }

  private static Workload.Found under(
      int crashes,
      String word,
      Consumer<RedisProcess> crash,
      Durability durability,
      RedisProcess redis)
      throws Exception {
    try (redis;
        RedisIdempotencyStore one = store(redis, durability);
        RedisIdempotencyStore other = store(redis, durability);
        Workload workload = new Workload(one, other)) {
      for (int each = 0; each < crashes; each++) {
        int before = workload.answeredSoFar();
        await().until(() -> workload.answeredSoFar() > before + 100);
        crash.accept(redis);
        redis.startAgain();
      }
      int before = workload.answeredSoFar();
      await().until(() -> workload.answeredSoFar() > before);
      Workload.Found found = workload.end(one);
      System.out.println(crashes + " " + word + ", " + durability + ": " + found);
      return found;
    }
  }

  private static RedisIdempotencyStore store(RedisProcess redis, Durability durability) {
    return RedisIdempotencyStore.builder(redis.uri())
        .durability(durability)
        .lease(Duration.ofSeconds(3))
        .build();
  }
}
