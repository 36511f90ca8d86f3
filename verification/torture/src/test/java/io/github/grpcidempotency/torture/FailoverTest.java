package io.github.grpcidempotency.torture;

import static io.github.grpcidempotency.test.Program.ETCD;
import static io.github.grpcidempotency.test.Program.HAPROXY;
import static io.github.grpcidempotency.test.Program.PATRONI;
import static io.github.grpcidempotency.test.Program.POSTGRES;
import static java.util.Collections.disjoint;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.base.Splitter;
import io.github.grpcidempotency.test.NeedsProgram;
import io.github.grpcidempotency.torture.FailoverPostgres.Setting;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What {@code docs/operations/failover.md} says: one database fails over to the next. */
@Tag("torture")
@NeedsProgram({ETCD, HAPROXY, PATRONI, POSTGRES})
class FailoverTest {
  private static final Duration LENGTH = Duration.ofMinutes(Long.getLong("torture.minutes", 10));
  private static final Path TARGET = Path.of("target", "torture");

  /** A fault shows only if a primary dies at the wrong moment, which not every run has. */
  private static final int MAX_RUNS = 4;

  private static final long SEED = Long.getLong("torture.seed", 1);
  private static final boolean BESIDE =
      Boolean.parseBoolean(System.getProperty("torture.failover.beside", "true"));
  private static final int BEHIND_HAPROXY = Math.floorMod(SEED, 2);
  private static final Setting SYNCHRONOUS = new Setting(true, "on", BEHIND_HAPROXY);
  private static final Setting ASYNCHRONOUS = new Setting(false, "on", BEHIND_HAPROXY);

  /** What a commit that waits for nobody does not survive. */
  private static final Plan DYING =
      Plan.failovers(Duration.ofSeconds(45)).breaking(Map.of(FaultKind.LAGGING_REPLICAS, 1));

  @Test
  void nothingIsLostWhereReplicationIsSynchronous() throws InterruptedException {
    TortureReport report = run("failover-synchronous", SYNCHRONOUS, plan());

    assertThat(report.violations()).isEmpty();
    assertThat(report.lost()).isEmpty();
    assertThat(report.exercise().shortcomings(plan())).as("a vacuous run").isEmpty();
  }

  @Test
  void whatAsynchronousReplicationLosesIsLostTogether() throws InterruptedException {
    TortureReport report = run("failover-asynchronous", ASYNCHRONOUS, plan());

    assertThat(report.violations()).isEmpty();
    assertThat(report.exercise().shortcomings(plan())).as("a vacuous run").isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"on", "remote_apply", "remote_write"})
  void aCommitThatWaitsForAReplicaIsNotLost(String commit) throws InterruptedException {
    TortureReport report = run("failover-" + commit, new Setting(true, commit, 1), DYING);

    assertThat(report.violations()).isEmpty();
    assertThat(report.lost()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"local", "off"})
  void aCommitThatDoesNotWaitIsLostTogetherWithItsEffect(String commit)
      throws InterruptedException {
    TortureReport report = run("failover-" + commit, new Setting(true, commit, 1), DYING);

    assertThat(report.violations()).isEmpty();
    assertThat(report.lost()).isNotEmpty();
  }

  @ParameterizedTest
  @EnumSource
  void everyFaultIsCaught(FailoverFault fault) throws InterruptedException {
    Setting setting = fault.isSynchronous() ? SYNCHRONOUS : ASYNCHRONOUS;
    Mutant mutant = fault.build(TARGET.resolve("failover-mutant"));
    Set<Rule> broken = EnumSet.noneOf(Rule.class);
    for (long seed = SEED; seed < SEED + MAX_RUNS && disjoint(broken, fault.broken()); seed++) {
      String name = "failover-" + fault;
      broken.addAll(run(name, setting, fault.plan(), Optional.of(mutant), seed).broken().keySet());
    }
    assertThat(broken).containsAnyElementsOf(fault.broken());
  }

  /** Reserved handlers write in the last moments of a primary, and answer on the next one. */
  @Test
  void anAnswerWhoseEffectWasLostIsNotRecorded() throws InterruptedException {
    TortureReport report = run("failover-timeline", ASYNCHRONOUS, FailoverFault.outlasting());

    assertThat(report.violations()).isEmpty();
  }

  /** The same without the fault. */
  @Test
  void aReservationThatIsReplicatedOutlastsAFailover() throws InterruptedException {
    Plan plan = FailoverFault.lagging(Form.FAIL_OPEN, Form.RESERVED, Form.JOINED);
    TortureReport report = run("failover-reserved", SYNCHRONOUS, plan);

    assertThat(report.violations()).isEmpty();
    assertThat(report.lost()).isEmpty();
  }

  /** All kinds of failover, or those that a property names, beside what servers suffer, or not. */
  private static Plan plan() {
    Plan all = BESIDE ? Plan.failoversAndServers(LENGTH) : Plan.failovers(LENGTH);
    String named = System.getProperty("torture.failovers", "");
    if (named.isEmpty()) {
      return all;
    }
    Map<FaultKind, Integer> faults = new EnumMap<>(all.onlyFailovers(false).faults());
    Splitter.on(',').splitToStream(named).forEach(kind -> faults.put(FaultKind.valueOf(kind), 1));
    return all.breaking(faults);
  }

  private static TortureReport run(String name, Setting setting, Plan plan)
      throws InterruptedException {
    return run(name, setting, plan, Optional.empty(), SEED);
  }

  @SuppressWarnings("SystemOut") // whoever waits for a long run reads it
  private static TortureReport run(
      String name, Setting setting, Plan plan, Optional<Mutant> mutant, long seed)
      throws InterruptedException {
    try (TorturePostgres elsewhere = TorturePostgres.start();
        FailoverPostgres postgres = FailoverPostgres.start(setting, TARGET.resolve(name))) {
      String title =
          "%s, seed %d for %s on PostgreSQL %s, synchronous_commit=%s, server-%d behind HAProxy"
              .formatted(
                  name,
                  seed,
                  plan.length(),
                  postgres.version(),
                  setting.commit(),
                  setting.behindHaproxy());
      TortureDatabase database = new TortureDatabase(postgres, new TortureDatabase(elsewhere));
      TortureReport report = TortureReport.run(plan, seed, database, mutant, name, title);
      System.out.printf(
          "%s:%n%s  answers lost %s%n  violations %s%n",
          title, report.exercise(), report.lost(), report.broken());
      report.violations().stream().limit(20).forEach(System.out::println);
      return report;
    }
  }
}
