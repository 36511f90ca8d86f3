package io.github.grpcidempotency.redis;

import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.key.IdempotencyKey;
import io.github.grpcidempotency.spi.ClaimResult;
import io.github.grpcidempotency.spi.RecordedProcedure;
import io.github.grpcidempotency.spi.ShardMark;
import io.github.grpcidempotency.store.SetupException;
import io.lettuce.core.Value;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Finds configuration that would make the store lose records or fail later, and reports all
 * problems at once:
 *
 * <ol>
 *   <li>Whether the server is a master, has a supported version, and does not evict records.
 *   <li>Whether its persistence satisfies the configured {@link Durability}.
 *   <li>Whether the store supports the settings of each procedure.
 *   <li>If there is no problem so far: whether a trial call works from its claim to its replay.
 * </ol>
 */
final class StartupCheck {
  private static final Pattern VERSION = Pattern.compile("^(\\d{1,4})\\.(\\d{1,4})");
  private static final Duration TRIAL_RETENTION = Duration.ofSeconds(1);

  private final RecordStore records;
  private final Durability durability;
  private final ServerSettings settings;
  private final IdempotencyKey trial = new IdempotencyKey(Caller.of(UUID.randomUUID()), "trial");
  private final List<String> problems = new ArrayList<>();

  StartupCheck(RecordStore records, Durability durability) {
    this.records = records;
    this.durability = durability;
    this.settings = new ServerSettings(durability);
  }

  /**
   * Runs every check.
   *
   * @param shard the name that the database must contain, if it is one of several shards
   */
  void run(Collection<RecordedProcedure> procedures, Optional<String> shard) {
    procedures.forEach(this::checkProcedure);
    RedisSession session = records.link().session();
    shard.flatMap(name -> ShardMark.problem(name, storedShard(session))).ifPresent(problems::add);
    Optional<Map<String, String>> info = permitted("+info", session::info);
    info.ifPresent(this::checkServer);
    if (info.isPresent()) {
      problems.addAll(settings.problemsOf(info.get()));
      if (settings.dependOnFlushing(info.get())) {
        permitted("+config|get", () -> ServerSettings.flushing(session))
            .ifPresent(found -> problems.addAll(settings.problemsOfFlushing(found)));
      }
      checkReplicas(info.get());
    }
    if (problems.isEmpty()) {
      checkCall(session);
    }
    if (!problems.isEmpty()) {
      throw new SetupException(problems);
    }
  }

  /** Returns the name that an operator has set with {@code HSET <prefix>:shard name <name>}. */
  private Optional<String> storedShard(RedisSession session) {
    return session
        .await(
            session
                .commands()
                .hmget(RecordReply.bytes(records.names().shard()), RecordReply.bytes("name")))
        .stream()
        .filter(Value::hasValue)
        .map(mark -> new String(mark.getValue(), StandardCharsets.UTF_8))
        .findFirst();
  }

  private void checkProcedure(RecordedProcedure procedure) {
    if (procedure.outbox().isPresent()) {
      problems.add(
          procedure.name()
              + ": its status comes from an OutboxQuery, which only the PostgreSQL store"
              + " can run: give the procedure a StatusResolver that is implemented in Java");
    }
  }

  private void checkServer(Map<String, String> info) {
    String version = info.getOrDefault("redis_version", "");
    if (!isRecent(version)) {
      problems.add("Redis " + version + " is too old: the store needs 6.2 or later");
    }
    if (!info.getOrDefault("role", "").equals("master")) {
      problems.add(
          "the server is a replica, which accepts no writes: connect the store to the master or"
              + " to the sentinels");
    }
    if (info.getOrDefault("cluster_enabled", "0").equals("1")) {
      problems.add("the server is a node of a cluster, which this store does not support");
    }
  }

  static boolean isRecent(String version) {
    Matcher parts = VERSION.matcher(version);
    if (!parts.find()) {
      return false;
    }
    int major = Integer.parseInt(parts.group(1));
    int minor = Integer.parseInt(parts.group(2));
    return major > 6 || (major == 6 && minor >= 2);
  }

  private void checkReplicas(Map<String, String> info) {
    int connected = Integer.parseInt(info.getOrDefault("connected_slaves", "0"));
    if (durability.replicas().isEmpty() && (connected > 0 || records.link().hasSentinels())) {
      problems.add(
          "the server has replicas, and a failover could lose writes that they have not"
              + " received yet: set Durability.acknowledgedBy to the number of replicas that must"
              + " confirm a write, or to 0");
    }
    if (durability.replicas().orElse(0) > connected) {
      problems.add(
          ("Durability.acknowledgedBy requires %d replicas to confirm every write, but %d are"
                  + " connected")
              .formatted(durability.replicas().orElse(0), connected));
    }
  }

  /** Makes a trial call that uses all commands of the scripts. */
  private void checkCall(RedisSession session) {
    byte[] key = RecordReply.bytes(names().nameOf(trial));
    permitted("+eval", () -> session.load(Script.FIND, key));
    Optional<Boolean> works =
        permitted(
            "the commands of the scripts, on ~%s:*".formatted(names().prefix()),
            () -> play(session, key));
    if (works.isPresent() && !works.get()) {
      problems.add("a trial call was not recorded; does another store use the same prefix?");
    }
  }

  private static boolean play(RedisSession session, byte[] key) {
    byte[] owner = RecordReply.bytes("trial");
    byte[] id = RecordReply.bytes(UUID.randomUUID().toString());
    byte[] hash = new byte[32];
    byte[] time = RecordReply.bytes(TRIAL_RETENTION.toMillis());
    byte[] yes = RecordReply.bytes(1);
    for (Script last : List.of(Script.RELEASE, Script.COMPLETE)) {
      session.run(Script.CLAIM, key, owner, id, owner, yes, hash, time, time, hash);
      session.run(Script.RENEW, key, owner, time);
      session.run(Script.MARK_UNKNOWN, key, owner);
      session.run(Script.IS_IN_FLIGHT, key);
      if (last == Script.RELEASE) {
        session.run(last, key, owner);
      } else {
        session.run(last, key, owner, RecordReply.Kind.RESPONSE.bytes(), hash, time, id);
      }
    }
    session.run(Script.RETAIN, key, id, time, time);
    session.confirm();
    return RecordReply.of(session.run(Script.FIND, key)) instanceof RecordReply.Seen seen
        && seen.result() instanceof ClaimResult.Recorded;
  }

  private RecordKey names() {
    return records.names();
  }

  /** Returns the result of a command; empty, with a problem, if the user has no right to run it. */
  private <T> Optional<T> permitted(String right, Supplier<T> command) {
    try {
      return Optional.of(command.get());
    } catch (RedisFailure failure) {
      if (failure.why().isTemporary()) {
        throw failure;
      }
      problems.add(
          "Redis refused a command (\"%s\"): grant the store's user %s"
              .formatted(failure.said(), right));
      return Optional.empty();
    }
  }
}
