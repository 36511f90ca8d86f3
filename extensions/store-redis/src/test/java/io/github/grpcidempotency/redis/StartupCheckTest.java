package io.github.grpcidempotency.redis;

import static io.github.grpcidempotency.test.Program.REDIS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.github.grpcidempotency.internal.engine.Setup;
import io.github.grpcidempotency.internal.engine.Stores;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.Procedures;
import io.github.grpcidempotency.resource.OutboxQuery;
import io.github.grpcidempotency.spi.RecordedProcedure;
import io.github.grpcidempotency.store.SetupException;
import io.github.grpcidempotency.test.NeedsProgram;
import io.lettuce.core.RedisURI;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a store refuses to start on. */
@NeedsProgram(REDIS)
class StartupCheckTest {
  @AutoClose static final RedisProcess redis = RedisProcess.durable();

  @Test
  void aServerThatFlushesEveryWriteIsAccepted() {
    assertThat(problems(redis.uri(), Durability.everyWrite())).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "maxmemory-policy, allkeys-lru, noeviction, IN_MEMORY, false",
    "maxmemory-policy, volatile-ttl, noeviction, IN_MEMORY, false",
    "maxmemory-policy, volatile-lru, noeviction, IN_MEMORY, false",
    "maxmemory-policy, allkeys-random, noeviction, IN_MEMORY, false",
    "appendfsync, everysec, always, EVERY_WRITE, false",
    "appendfsync, everysec, always, EVERY_SECOND, true",
    "appendfsync, no, always, EVERY_SECOND, false",
    "no-appendfsync-on-rewrite, yes, no, EVERY_WRITE, false",
    "appendonly, no, yes, EVERY_WRITE, false",
    "appendonly, no, yes, EVERY_SECOND, false",
    "appendonly, no, yes, IN_MEMORY, true",
    "appendonly, no, yes, AS_OPERATED, true"
  })
  void aServerThatKeepsLessThanTheDurabilityIsRefused(
      String setting, String value, String right, Kept kept, boolean accepted) {
    redis.with(commands -> commands.configSet(setting, value));
    try {
      List<String> problems = problems(redis.uri(), kept.durability);

      assertThat(problems).hasSize(accepted ? 0 : 1);
      assertThat(problems).allMatch(problem -> problem.contains(setting + " is " + value));
    } finally {
      redis.with(commands -> commands.configSet(setting, right));
    }
  }

  private enum Kept {
    EVERY_WRITE(Durability.everyWrite()),
    EVERY_SECOND(Durability.everySecond()),
    IN_MEMORY(Durability.inMemory()),
    AS_OPERATED(Durability.asOperated());

    @SuppressWarnings("ImmutableEnumChecker") // it is immutable
    private final Durability durability;

    Kept(Durability durability) {
      this.durability = durability;
    }
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
    "-evalsha,commands of the scripts", "resetkeys,~idempotency:*", "-eval,+eval"
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
    return RecordedProcedure.of(Procedure.named("jobs/write").status(outbox).build());
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
