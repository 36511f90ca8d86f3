package io.github.grpcidempotency.redis;

import io.github.grpcidempotency.internal.decision.FailureDecider;
import io.github.grpcidempotency.internal.log.RateLimitedLog;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.LoggerFactory;

/**
 * Looks again at the settings that {@link StartupCheck} has looked at, for they can be changed at
 * any time: with every new connection, because it may lead to another server or to one that has
 * started again, and every few seconds. Whoever claims a key then does it, in two round trips.
 *
 * <p>A server that would be refused at start-up gets no more claims, until its settings are right
 * again. That it has forgotten keys in the meantime, or has got replicas, is logged.
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

  /** Starts, once the check at start-up has found nothing. */
  void start() {
    started = true;
  }

  /**
   * Makes sure that the server keeps what is written to it.
   *
   * @throws RedisFailure if it does not, or cannot be asked
   */
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
          "settings", null, "no call is claimed any more: " + String.join("; ", now.problems()));
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
      if (FailureDecider.passes(failure.why())) {
        throw failure;
      }
      problems.add("the settings cannot be looked at: Redis says \"%s\"".formatted(failure.said()));
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
          "the server has got replicas: a failover would lose what they have not got yet, unless Durability.acknowledgedBy says how many must have a write");
    }
  }

  private void compare(Look before, Look now) {
    if (before.process().equals(now.process()) && now.evicted() > before.evicted()) {
      log.error(
          "evicted",
          null,
          "Redis was short of memory and has forgotten %d keys: calls whose records are gone run again when they are retried"
              .formatted(now.evicted() - before.evicted()));
    }
  }
}
