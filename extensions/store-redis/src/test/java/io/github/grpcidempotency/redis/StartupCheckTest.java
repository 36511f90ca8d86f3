package io.github.grpcidempotency.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.github.grpcidempotency.internal.runtime.Setup;
import io.github.grpcidempotency.internal.runtime.Stores;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.OutboxQuery;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.Procedures;
import io.github.grpcidempotency.procedure.SetupException;
import io.github.grpcidempotency.store.RecordedProcedure;
import io.lettuce.core.RedisURI;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a store refuses to start on. */
@NeedsRedis
class StartupCheckTest {
  @AutoClose static final RedisProcess redis = RedisProcess.durable();

  @Test
  void aServerThatFlushesEveryWriteIsAccepted() {
    assertThat(problems(redis.uri(), Durability.everyWrite())).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"allkeys-lru", "volatile-ttl", "volatile-lru", "allkeys-random"})
  void aServerThatWouldEvictKeysIsRefused(String policy) {
    assertThat(problemsWith(Map.of("maxmemory-policy", policy), Durability.inMemory()))
        .singleElement()
        .asString()
        .contains("maxmemory-policy is " + policy, "noeviction");
  }

  @Test
  void aServerThatFlushesOnceASecondKeepsLessThanTheDefault() {
    assertThat(problemsWith(Map.of("appendfsync", "everysec"), Durability.everyWrite()))
        .singleElement()
        .asString()
        .contains("appendfsync is everysec");
    assertThat(problemsWith(Map.of("appendfsync", "everysec"), Durability.everySecond())).isEmpty();
  }

  @Test
  void aServerThatNeverFlushesKeepsLessThanOnceASecond() {
    assertThat(problemsWith(Map.of("appendfsync", "no"), Durability.everySecond()))
        .singleElement()
        .asString()
        .contains("appendfsync is no");
  }

  @Test
  void aServerThatDoesNotFlushWhileItRewritesKeepsLessThanTheDefault() {
    assertThat(problemsWith(Map.of("no-appendfsync-on-rewrite", "yes"), Durability.everyWrite()))
        .singleElement()
        .asString()
        .contains("no-appendfsync-on-rewrite is yes");
  }

  @Test
  void aServerWithoutPersistenceNeedsTheDurabilityInMemory() {
    Map<String, String> nothing = Map.of("appendonly", "no");

    assertThat(problemsWith(nothing, Durability.everyWrite()))
        .singleElement()
        .asString()
        .contains("appendonly is no");
    assertThat(problemsWith(nothing, Durability.everySecond())).hasSize(1);
    assertThat(problemsWith(nothing, Durability.inMemory())).isEmpty();
    assertThat(problemsWith(nothing, Durability.asOperated())).isEmpty();
  }

  @Test
  void shardsThatAreMixedUpAreRefused() {
    try (RedisIdempotencyStore marked = RedisIdempotencyStore.builder(redis.uri()).build()) {
      marked.verify(List.of(), Optional.of("east"));
      redis.with(commands -> commands.hset("idempotency:shard", "name", "west"));
      marked.verify(List.of(), Optional.of("west"));

      assertThat(
              catchThrowableOfType(
                      SetupException.class, () -> marked.verify(List.of(), Optional.of("east")))
                  .problems())
          .containsExactly(
              "its database contains the name of another shard, west: correct the"
                  + " shard's data source, or the stored name");
    } finally {
      redis.with(commands -> commands.del("idempotency:shard"));
    }
  }

  @Test
  void aServerWithReplicasNeedsTheNumberOfConfirmations() {
    try (RedisProcess replica = RedisProcess.inMemory()) {
      replica.replicate(redis);

      assertThat(problems(redis.uri(), Durability.everyWrite()))
          .singleElement()
          .asString()
          .contains("acknowledgedBy");
      assertThat(problems(redis.uri(), Durability.everyWrite().acknowledgedBy(0))).isEmpty();
      assertThat(problems(redis.uri(), Durability.everyWrite().acknowledgedBy(1))).isEmpty();
      assertThat(problems(redis.uri(), Durability.everyWrite().acknowledgedBy(2)))
          .singleElement()
          .asString()
          .contains("2 replicas", "1 are connected");
      assertThat(problems(replica.uri(), Durability.everyWrite()))
          .anyMatch(problem -> problem.contains("is a replica"));
    }
  }

  @Test
  void aNodeOfAClusterIsRefused() {
    try (RedisProcess node = RedisProcess.inMemory("--cluster-enabled", "yes")) {
      assertThat(problems(node.uri(), Durability.inMemory()))
          .singleElement()
          .asString()
          .contains("node of a cluster");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "5.0.14,false",
    "6.0.16,false",
    "6.2.0,true",
    "6.10.1,true",
    "7.0.15,true",
    "10.0.0,true",
    "unknown,false"
  })
  void theScriptsNeedAVersion(String version, boolean recent) {
    assertThat(StartupCheck.isRecent(version)).isEqualTo(recent);
  }

  @Test
  void anOutboxThatOnlyAnotherStoreCanReadIsRefused() {
    OutboxQuery outbox = OutboxQuery.of("SELECT state FROM outbox WHERE id = :resource_id").build();

    assertThat(problems(redis.uri(), Durability.everyWrite(), withStatus(outbox)))
        .singleElement()
        .asString()
        .startsWith("jobs/write: its status comes from an OutboxQuery");
  }

  @Test
  void aTransactionalProcedureIsRefused() {
    Procedures transactional =
        Procedures.of(Procedure.named("jobs/write").execution(Execution.TRANSACTIONAL).build());
    try (RedisIdempotencyStore store = RedisIdempotencyStore.builder(redis.uri()).build()) {
      SetupException refused =
          catchThrowableOfType(
              SetupException.class,
              () -> Setup.check(transactional, Optional.of(Stores.of(store))));

      assertThat(refused.problems())
          .containsExactly(
              "jobs/write: it is TRANSACTIONAL, but RedisIdempotencyStore does not support"
                  + " transactions: choose RESERVED, or another store");
    }
  }

  @Test
  void aUserWithTheRightsOfThePageIsAccepted() {
    assertThat(problems(user(""), Durability.everyWrite())).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "-info,+info", "-config,+config|get", "-hset,commands of the scripts",
    "-pexpireat,commands of the scripts", "-hdel,commands of the scripts",
        "-del,commands of the scripts",
    "-evalsha,commands of the scripts", "-publish,+publish", "resetchannels,+publish",
    "-subscribe,+subscribe", "resetkeys,~idempotency:*", "-eval,+eval"
  })
  void aMissingRightIsNamed(String taken, String named) {
    assertThat(problems(user(taken), Durability.everyWrite()))
        .anyMatch(problem -> problem.contains(named));
  }

  /**
   * Redis would refuse it after a claim has begun to write, and the key would be blocked for ever.
   */
  @Test
  void durationsThatRedisCannotRepresentAreRefused() {
    RedisIdempotencyStore.Builder builder = RedisIdempotencyStore.builder(redis.uri());

    assertThatIllegalArgumentException()
        .isThrownBy(() -> builder.lease(Duration.ofMillis(Long.MAX_VALUE)));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> builder.timeout(Duration.ofSeconds(Long.MAX_VALUE)));
  }

  @Test
  void theChecksLeaveOnlyRecordsThatExpireSoon() {
    try (RedisIdempotencyStore store =
        RedisIdempotencyStore.builder(redis.uri()).prefix("checked").build()) {
      store.verify(List.of(), Optional.empty());
    }

    List<Long> left =
        redis.with(commands -> commands.keys("checked:*").stream().map(commands::pttl).toList());
    assertThat(left).hasSize(1).allMatch(millis -> millis > 0);
  }

  /** Makes a user with the rights that the page names, and takes one away. */
  private static RedisURI user(String taken) {
    redis.with(
        commands ->
            commands.dispatch(
                CommandType.ACL, new StatusOutput<>(StringCodec.UTF8), arguments(taken)));
    return RedisURI.builder(redis.uri()).withAuthentication("store", "secret").build();
  }

  private static CommandArgs<String, String> arguments(String taken) {
    CommandArgs<String, String> arguments =
        new CommandArgs<>(StringCodec.UTF8).add("SETUSER").add("store").add("reset");
    Rights.OF_THE_STORE.forEach(arguments::add);
    if (!taken.isEmpty()) {
      arguments.add(taken);
    }
    return arguments;
  }

  private static RecordedProcedure withStatus(OutboxQuery outbox) {
    return new RecordedProcedure(
        "jobs/write", Optional.empty(), false, Optional.empty(), Optional.of(outbox), false, false);
  }

  private static List<String> problemsWith(Map<String, String> settings, Durability durability) {
    set(settings);
    try {
      return problems(redis.uri(), durability);
    } finally {
      set(
          Map.of(
              "maxmemory-policy", "noeviction",
              "appendfsync", "always",
              "no-appendfsync-on-rewrite", "no",
              "appendonly", "yes"));
    }
  }

  private static void set(Map<String, String> settings) {
    settings.forEach((name, value) -> redis.with(commands -> commands.configSet(name, value)));
  }

  private static List<String> problems(
      RedisURI uri, Durability durability, RecordedProcedure... procedures) {
    try (RedisIdempotencyStore store =
        RedisIdempotencyStore.builder(uri).durability(durability).build()) {
      store.verify(List.of(procedures), Optional.empty());
      return List.of();
    } catch (SetupException refused) {
      return refused.problems();
    }
  }
}
