package io.github.grpcidempotency.benchmarks.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.github.grpcidempotency.benchmarks.database.DurableDatabase;
import io.github.grpcidempotency.benchmarks.database.Usage;
import io.github.grpcidempotency.benchmarks.service.BenchmarkServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * What a call costs is part of what is promised: a change of it is a change of these tables, and of
 * docs/explanations/figures.md.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class CostOfCallTest {
  private static final int CALLS = 30;
  private static final int ROUNDS = 3;

  private DurableDatabase database;
  private BenchmarkServer server;
  private Client client;

  @BeforeAll
  void start() {
    database = DurableDatabase.start();
    server = BenchmarkServer.start(database, CostOfCall.CONNECTIONS, Duration.ZERO);
    client = new Client(server.port());
  }

  @AfterAll
  void stop() {
    client.close();
    server.close();
    database.close();
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      textBlock =
          """
          # way,                   round trips, statements, flushes, WAL bytes
          bare,                              3,          5,       1,       493
          bare-record,                       3,          7,       1,       800
          separate,                         12,         17,       3,      1717
          reserved,                          5,          9,       3,      1766
          joined-commit,                     4,          9,       2,      1732
          transactional,                     4,          8,       1,      1227
          at-commit,                         3,          7,       1,      1209
          """)
  void aCreateCosts(String way, int roundTrips, int statements, int flushes, long walBytes) {
    List<Usage> rounds = measure(way);

    SoftAssertions.assertSoftly(
        softly -> {
          softly
              .assertThat(perCall(rounds, Usage::roundTrips))
              .as("round trips")
              .isEqualTo(roundTrips);
          softly
              .assertThat(perCall(rounds, Usage::statements))
              .as("statements")
              .isEqualTo(statements);
          softly.assertThat(perCall(rounds, Usage::walSyncs)).as("flushes").isEqualTo(flushes);
          softly
              .assertThat(perCall(rounds, Usage::walBytes))
              .as("WAL")
              .isCloseTo(walBytes, withinPercentage(6));
        });
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      textBlock =
          """
          # way,                   round trips, statements
          replay-of-reserved,                2,          4
          replay-of-transactional,           2,          5
          hinted-replay-of-reserved,         1,          2
          hinted-replay-of-transactional,    1,          2
          hinted-replay-of-at-commit,        1,          2
          """)
  void aReplayWritesNothingAndCosts(String way, int roundTrips, int statements) {
    List<Usage> rounds = measure(way);

    SoftAssertions.assertSoftly(
        softly -> {
          softly
              .assertThat(perCall(rounds, Usage::roundTrips))
              .as("round trips")
              .isEqualTo(roundTrips);
          softly
              .assertThat(perCall(rounds, Usage::statements))
              .as("statements")
              .isEqualTo(statements);
          softly.assertThat(perCall(rounds, Usage::walSyncs)).as("flushes").isZero();
          softly.assertThat(perCall(rounds, Usage::walBytes)).as("WAL").isZero();
        });
  }

  /** Its handler runs, and is rolled back. */
  @Test
  void aReplayOfACallThatIsClaimedAtItsCommitFlushesNothing() {
    List<Usage> rounds = measure("replay-of-at-commit");

    assertThat(perCall(rounds, Usage::roundTrips)).isEqualTo(5);
    assertThat(perCall(rounds, Usage::statements)).isEqualTo(10);
    assertThat(perCall(rounds, Usage::walSyncs)).isZero();
  }

  private List<Usage> measure(String way) {
    Subject subject =
        Subject.of(client, List.of(way), CALLS).stream().reduce((bare, last) -> last).orElseThrow();
    Load unused = ClosedLoop.run(subject.operation(), 1, CALLS);
    List<Usage> rounds = new ArrayList<>();
    for (int round = 0; round < ROUNDS; round++) {
      rounds.add(
          Usage.of(
              server.pools(),
              database.superuser(),
              () -> ClosedLoop.run(subject.operation(), 1, CALLS)));
    }
    return rounds;
  }

  /** Of the round that cost least: the database does work of its own now and then. */
  private static long perCall(List<Usage> rounds, ToLongFunction<Usage> cost) {
    return Math.round(rounds.stream().mapToLong(cost).min().orElseThrow() / (double) CALLS);
  }
}
