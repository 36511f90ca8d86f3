package io.github.grpcidempotency.torture;

import static java.util.stream.Collectors.toMap;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.common.base.Splitter;
import io.github.grpcidempotency.torture.Mutant.Edit;
import io.github.grpcidempotency.torture.failover.PatroniCluster;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What {@code docs/operations/failover.md} says: one database fails over to the next. */
@Tag("torture")
class FailoverTest {
  private static final Duration LENGTH = Duration.ofMinutes(Long.getLong("torture.minutes", 10));
  private static final Path TARGET = Path.of("target", "torture");
  private static final long SEED = Long.getLong("torture.seed", 1);

  @BeforeAll
  static void needsPatroni() {
    assumeTrue(PatroniCluster.isInstalled(), "Patroni, etcd and a PostgreSQL are not installed");
  }

  @Test
  void nothingIsLostWhereReplicationIsSynchronous() throws InterruptedException {
    TortureReport report = run("failover-synchronous", true, plan(), Optional.empty());

    assertThat(report.violations()).isEmpty();
    assertThat(report.lost()).isEmpty();
    assertThat(report.exercise().shortcomings(plan())).as("a vacuous run").isEmpty();
  }

  @Test
  void whatAsynchronousReplicationLosesIsLostTogether() throws InterruptedException {
    TortureReport report = run("failover-asynchronous", false, plan(), Optional.empty());

    assertThat(report.violations()).isEmpty();
    assertThat(report.exercise().shortcomings(plan())).as("a vacuous run").isEmpty();
  }

  /** The fault: a transaction that is confirmed before a second node has it. */
  @Test
  void anAnswerThatIsSentBeforeItIsReplicatedIsFound() throws InterruptedException {
    TortureReport report =
        run(
            "failover-confirmed-early",
            true,
            lagging(Duration.ofSeconds(3), Form.TRANSACTIONAL),
            Optional.of(
                mutant(
                    Edit.sql(
                        "transaction/claim",
                        " AS read_only;",
                        " AS read_only,"
                            + " set_config('synchronous_commit', 'local', true) AS early;"))));

    assertThat(report.broken()).containsKeys(Rule.ANSWER_HAS_EFFECT, Rule.ANSWER_IS_RECORDED);
  }

  /** The fault: the reservation of a handler that writes elsewhere does not wait for a replica. */
  @Test
  void aReservationThatIsNotReplicatedIsFound() throws InterruptedException {
    TortureReport report =
        run(
            "failover-reserved-early",
            true,
            lagging(Duration.ofSeconds(30), Form.FAIL_OPEN),
            Optional.of(
                mutant(
                    Edit.store(
                        "ProcedureSql",
                        "procedure.sameDatabase() ? ASYNCHRONOUS_COMMIT : \"\"",
                        "ASYNCHRONOUS_COMMIT"))));

    assertThat(report.broken()).containsKey(Rule.NO_UNEXPLAINED_EFFECT);
  }

  /** All kinds of failover, or those that a property names. */
  private static Plan plan() {
    Plan all = Plan.failover(LENGTH);
    String named = System.getProperty("torture.failovers", "");
    if (named.isEmpty()) {
      return all;
    }
    return all.breaking(
        Splitter.on(',').splitToStream(named).collect(toMap(FaultKind::valueOf, kind -> 1)));
  }

  /** The same without the fault. */
  @Test
  void aReservationThatIsReplicatedOutlastsAFailover() throws InterruptedException {
    TortureReport report =
        run(
            "failover-reserved",
            true,
            lagging(Duration.ofSeconds(30), Form.FAIL_OPEN, Form.SAME_DATABASE, Form.JOINED),
            Optional.empty());

    assertThat(report.violations()).isEmpty();
    assertThat(report.lost()).isEmpty();
  }

  private static Plan lagging(Duration lease, Form... forms) {
    return Plan.only(Duration.ofSeconds(30), Map.of(FaultKind.LAGGING_REPLICAS, 1), forms)
        .leasing(lease)
        .mixing(new Plan.Mix(0, 0, 0, 0));
  }

  private static Mutant mutant(Edit edit) {
    return Mutant.of(List.of(edit), List.of(), TARGET.resolve("failover-mutant"));
  }

  @SuppressWarnings("SystemOut") // whoever waits for a long run reads it
  private static TortureReport run(
      String name, boolean synchronous, Plan plan, Optional<Mutant> mutant)
      throws InterruptedException {
    try (TorturePostgres elsewhere = TorturePostgres.start();
        FailoverPostgres postgres = FailoverPostgres.start(synchronous, TARGET.resolve(name))) {
      String title =
          "%s, seed %d for %s on PostgreSQL %s"
              .formatted(name, SEED, plan.length(), postgres.version());
      TortureDatabase database = new TortureDatabase(postgres, new TortureDatabase(elsewhere));
      TortureReport report = TortureReport.run(plan, SEED, database, mutant, name, title);
      System.out.printf(
          "%s:%n%s%s  answers lost %s%n  violations %s%n",
          title, report.exercise(), report.outages(), report.lost(), report.broken());
      report.violations().stream().limit(20).forEach(System.out::println);
      return report;
    }
  }
}
