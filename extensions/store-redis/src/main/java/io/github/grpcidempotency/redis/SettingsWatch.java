package io.github.grpcidempotency.redis;

import io.github.grpcidempotency.background.RateLimitedLog;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.LoggerFactory;

/**
 * Repeats the checks of {@link StartupCheck} on the settings, because the settings can change at
 * any time: with every new connection, because it may lead to another or to a restarted server, and
 * every few seconds. The next claim runs the check, which takes two round trips.
 *
 * <p>A server that would be refused at start-up gets no claims until its settings are correct
 * again. If it has evicted keys meanwhile, or has new replicas, this is logged.
 *
 * <p>Thread-safe.
 */
final class SettingsWatch {
  private final RateLimitedLog log =
      RateLimitedLog.of(LoggerFactory.getLogger(SettingsWatch.class));
  private final Durability durability;
  private final ServerSettings settings;
  private final Duration interval;
  private volatile boolean started;
  private volatile Optional<Look> latest = Optional.empty();

  private record Look(
      RedisSession session, long nanos, String process, long evicted, List<String> problems) {}

  SettingsWatch(Durability durability, Duration interval) {
    this.durability = durability;
    this.settings = new ServerSettings(durability);
    this.interval = interval;
  }

  /** Starts, once the check at start-up has found no problem. */
  void start() {
    started = true;
  }

  /** Checks that the server does not lose writes. */
  void requireKept(RedisSession session) {
    if (!started) {
      return;
    }
    List<String> problems =
        latest.filter(look -> isCurrent(look, session)).orElseGet(() -> look(session)).problems();
    if (!problems.isEmpty()) {
      throw RedisFailure.forgetful(problems);
    }
  }

  private boolean isCurrent(Look look, RedisSession session) {
    return look.session() == session && System.nanoTime() - look.nanos() < interval.toNanos();
  }

  private synchronized Look look(RedisSession session) {
    Optional<Look> before = latest;
    if (before.filter(look -> isCurrent(look, session)).isPresent()) {
      return before.get();
    }
    Look now = take(session);
    before.ifPresent(look -> compare(look, now));
    if (!now.problems().isEmpty()) {
      log.error(
          "settings",
          null,
          "calls are no longer claimed, because the settings of Redis may lose"
              + " records: "
              + String.join("; ", now.problems()));
    }
    latest = Optional.of(now);
    return now;
  }

  private Look take(RedisSession session) {
    List<String> problems = new ArrayList<>();
    Map<String, String> info = Map.of();
    try {
      info = session.info();
      problems.addAll(settings.problemsOf(info));
      if (settings.dependOnFlushing(info)) {
        problems.addAll(settings.problemsOfFlushing(ServerSettings.flushing(session)));
      }
    } catch (RedisFailure failure) {
      if (failure.why().isTemporary()) {
        throw failure;
      }
      problems.add("the settings of Redis cannot be read: \"%s\"".formatted(failure.said()));
    }
    warnOfReplicas(info);
    return new Look(
        session,
        System.nanoTime(),
        info.getOrDefault("run_id", ""),
        Long.parseLong(info.getOrDefault("evicted_keys", "0")),
        problems);
  }

  private void warnOfReplicas(Map<String, String> info) {
    if (durability.replicas().isEmpty()
        && !info.getOrDefault("connected_slaves", "0").equals("0")) {
      log.warn(
          "replicas",
          null,
          "Redis has new replicas: a failover could lose writes that they have not received"
              + " yet; set Durability.acknowledgedBy to the number of replicas that must confirm a"
              + " write");
    }
  }

  private void compare(Look before, Look now) {
    if (before.process().equals(now.process()) && now.evicted() > before.evicted()) {
      log.error(
          "evicted",
          null,
          ("Redis ran out of memory and deleted %d keys: retries of calls whose records are gone"
                  + " run the handler again; set maxmemory-policy to noeviction, and give Redis more"
                  + " memory")
              .formatted(now.evicted() - before.evicted()));
    }
  }
}
