package io.github.grpcidempotency.benchmarks.capacity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.github.grpcidempotency.benchmarks.service.Variant;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class ModelTest {
  private final Measurements measured = new Measurements(Path.of("results"));
  private final Model model = new Model(measured);

  @ParameterizedTest
  @CsvSource({"100, 357.2", "1024, 1366.4", "2560, 3607.6", "10240, 12766"})
  void aRecordsSizeIsMeasuredOrBetweenTwoMeasuredSizes(int answerBytes, double bytes) {
    assertThat(
            measured.ofRecord(
                Measurements.SIZE, Variant.TRANSACTIONAL, answerBytes, "heap and TOAST, packed"))
        .isCloseTo(bytes, within(1.0));
  }

  @ParameterizedTest
  @EnumSource(names = {"BARE", "RESERVED", "JOINED_COMMIT", "TRANSACTIONAL", "FIRST_STATEMENT"})
  void thePrimariesCarryTheLoadAndOneLessWouldNot(Variant way) {
    Load load = load(way, 200_000);
    int primaries = model.primaries(load);

    double limit = model.firstLimit(load).getValue();
    assertThat(primaries).isGreaterThan(1);
    assertThat(200_000.0 / primaries).isLessThanOrEqualTo(limit);
    assertThat(200_000.0 / (primaries - 1)).isGreaterThan(limit);
  }

  /** Little's law. */
  @Test
  void connectionsAreTheRateTimesTheTimeThatACallHoldsOne() {
    double held = model.heldMicros(Variant.TRANSACTIONAL, 500, 1_500);

    assertThat(held).isCloseTo(4 * 560 + (408.5 + 272.6) * 1.663 + 1_500, within(2.0));
    assertThat(model.busyConnections(load(Variant.TRANSACTIONAL, 1_000)))
        .isCloseTo(2_000 * model.heldMicros(Variant.TRANSACTIONAL) / 1e6, withinPercentage(0.001));
  }

  @Test
  void recordsTakeTheirRetentionTimesTheRate() {
    assertThat(model.liveBytes(load(Variant.TRANSACTIONAL, 1_000)))
        .isCloseTo(
            86_400_000 * (1_366.4 + model.indexBytes()) * model.bloat, withinPercentage(0.01));
    assertThat(model.liveBytes(load(Variant.BARE, 1_000))).isZero();
  }

  /** A retention has 1 / 0.2 vacuums for each dead row of a record. */
  @ParameterizedTest
  @CsvSource({"TRANSACTIONAL, 17280", "RESERVED, 8640"})
  void theTimeBetweenVacuumsIsAShareOfTheRetention(Variant way, double seconds) {
    assertThat(model.vacuumSeconds(load(way, 1_000))).isCloseTo(seconds, within(1.0));
  }

  @ParameterizedTest
  @CsvSource({"1, 3600", "100, 300", "5000, 10", "100000, 1"})
  void aSweepFindsAtMostFiftyThousandRecords(double rate, double seconds) {
    assertThat(Model.sweepSeconds(rate)).isEqualTo(seconds);
  }

  /** 200 million, by one and by three a create. */
  @ParameterizedTest
  @CsvSource({"TRANSACTIONAL, 200000", "JOINED_COMMIT, 100000", "RESERVED, 66667"})
  void rowsAreFrozenWhenSoManyTransactionIdsAreUsedUp(Variant way, double seconds) {
    assertThat(model.freezeSeconds(load(way, 1_000))).isCloseTo(seconds, within(1.0));
  }

  private static Load load(Variant way, double rate) {
    return new Load(rate, way, 1_024, Duration.ofDays(1));
  }
}
