package io.github.grpcidempotency.torture;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;

/**
 * The faults and their order, as a function of only the plan and the seed. Every fault comes once
 * at first, so that no run is too short for one.
 */
final class FaultSchedule {
  private final Plan plan;
  private final Random random;
  private final List<FaultKind> weighted = new ArrayList<>();
  private final Queue<Planned> first = new ArrayDeque<>();

  /**
   * A fault to come.
   *
   * @param pause after the one before
   * @param overlaps whether it may hit what has not recovered from the one before
   * @param server whose, where it is a server's
   * @param statement where to cut
   * @param length how long it lasts
   * @param skew the next process's clock
   * @param severity how far it goes
   */
  record Planned(
      Duration pause,
      boolean overlaps,
      FaultKind kind,
      int server,
      String statement,
      Duration length,
      Duration skew,
      Set<Severity> severity) {

    boolean is(Severity wanted) {
      return severity.contains(wanted);
    }

    Planned at(int other) {
      return new Planned(pause, overlaps, kind, other, statement, length, skew, severity);
    }
  }

  /** How far a fault goes, where it can go less far. */
  enum Severity {
    /** A claim does not reach the database before it is too late, rather than its answer. */
    SWALLOWS_QUESTION,
    /** What was held up is lost in the end. */
    CUTS,
    /** Connections that stand are ended. */
    TERMINATES
  }

  FaultSchedule(Plan plan, long seed) {
    this.plan = plan;
    this.random = new Random(seed);
    for (Map.Entry<FaultKind, Integer> weight : plan.faults().entrySet()) {
      weighted.addAll(Collections.nCopies(weight.getValue(), weight.getKey()));
    }
    Collections.sort(weighted);
    List<FaultKind> all = new ArrayList<>(Arrays.asList(FaultKind.values()));
    all.retainAll(plan.faults().keySet());
    Collections.shuffle(all, random);
    all.forEach(kind -> first.add(nextOf(kind)));
  }

  /** Whether there is anything to break at all. */
  boolean isEmpty() {
    return weighted.isEmpty();
  }

  Planned next() {
    Planned early = first.poll();
    if (early != null) {
      return early;
    }
    FaultKind kind = any(weighted);
    return planned(kind, statement(kind, any(plan.cuts())));
  }

  /** Returns one of a kind that found nothing to break when its turn came. */
  Planned nextOf(FaultKind kind) {
    return planned(kind, statement(kind, plan.cuts().get(0)));
  }

  private String statement(FaultKind kind, String cut) {
    return kind == FaultKind.SWALLOW_CLAIM ? any(plan.claims()) : cut;
  }

  private Planned planned(FaultKind kind, String statement) {
    return new Planned(
        pause(),
        random.nextInt(5) == 0,
        kind,
        random.nextInt(plan.servers().size()),
        statement,
        length(kind),
        Duration.ofHours(random.nextBoolean() ? 1 : -1),
        severity());
  }

  private Set<Severity> severity() {
    Set<Severity> chosen = EnumSet.noneOf(Severity.class);
    if (random.nextInt(4) == 0) {
      chosen.add(Severity.SWALLOWS_QUESTION);
    }
    if (random.nextInt(3) > 0) {
      chosen.add(Severity.CUTS);
    }
    if (random.nextBoolean()) {
      chosen.add(Severity.TERMINATES);
    }
    return chosen;
  }

  private Duration pause() {
    double factor = -Math.log(1 - random.nextDouble());
    return Duration.ofMillis((long) (plan.pause().toMillis() * factor));
  }

  /** How long a server stays stopped, a database down, a pool empty. */
  private Duration length(FaultKind kind) {
    long lease = plan.lease().toMillis();
    return Duration.ofMillis(
        switch (kind) {
          case STOP -> lease + random.nextLong(lease);
          case KILL, SKEW, DATABASE_STOP, DATABASE_KILL, CLOSE -> random.nextLong(500);
          case SWALLOW, READ_ONLY -> 200 + random.nextLong(lease);
          case EXHAUST, REFUSE, REFUSE_LOGINS -> 500 + random.nextLong(2 * lease);
          case SWALLOW_CLAIM -> lease * 3 / 2 + random.nextLong(lease);
          case PRIMARY_FREEZE, MANAGER_FREEZE -> 12_000 + random.nextLong(6_000);
          case LAGGING_REPLICAS -> 300 + random.nextLong(1_500);
          case CUT_BEFORE, CUT_AFTER, CUT_ALL, SWITCHOVER, PRIMARY_KILL -> 0;
        });
  }

  private <T> T any(List<T> choices) {
    return choices.get(random.nextInt(choices.size()));
  }
}
