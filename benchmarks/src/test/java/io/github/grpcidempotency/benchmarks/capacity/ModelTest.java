package io.github.grpcidempotency.benchmarks.capacity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assertions.withinPercentage;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class ModelTest {
  private static final double[] RATES = {0.1, 1, 10, 55, 100, 999, 1e3, 5e3, 1e4, 1e5, 3e5, 1e6};

  /** What a load needs, and each must not shrink when the load grows. */
  private static final Map<String, ToDoubleFunction<Estimate>> NEEDS =
      Map.of(
          "database cores", Estimate::databaseCores,
          "service cores", Estimate::serviceCores,
          "log", Estimate::walBytesPerDay,
          "records", Estimate::liveBytes,
          "connections", Estimate::busyConnections,
          "servers", Estimate::servers,
          "primaries", Estimate::primaries);

  private static Calibration calibration;
  private static Model model;
  private static Machine machine;

  @BeforeAll
  static void read() throws IOException {
    calibration = new Calibration(Measurements.read(Path.of("results")));
    model = new Model(calibration);
    machine =
        new Machine(32, 4e12, 1e9, 1.25e9, 500, 500, 500, 0.7, 2, true, Machine.Vacuum.DEFAULTS);
  }

  @ParameterizedTest
  @EnumSource
  void aHigherRateNeverNeedsLess(Way way) {
    neverLess(Arrays.stream(RATES).mapToObj(rate -> load(way, 1_024, rate)).toList(), machine);
  }

  @ParameterizedTest
  @EnumSource
  void aLargerAnswerNeverNeedsLess(Way way) {
    neverLess(
        List.of(0, 69, 100, 500, 1_024, 1_700, 2_500, 4_096, 10_240, 100_000).stream()
            .map(bytes -> load(way, bytes, 20_000))
            .toList(),
        machine);
  }

  @ParameterizedTest
  @EnumSource
  void aLongerRetentionNeverNeedsLess(Way way) {
    neverLess(
        List.of(1L, 60L, 3_600L, 86_400L, 604_800L).stream()
            .map(Duration::ofSeconds)
            .map(time -> new Load(20_000, 2, 0.01, way, 1_024, time, calibration.handler()))
            .toList(),
        machine);
  }

  private static void neverLess(List<Load> growing, Machine machine) {
    for (int i = 1; i < growing.size(); i++) {
      Estimate less = model.estimate(growing.get(i - 1), machine);
      Estimate more = model.estimate(growing.get(i), machine);
      for (Map.Entry<String, ToDoubleFunction<Estimate>> need : NEEDS.entrySet()) {
        assertThat(need.getValue().applyAsDouble(more))
            .as("%s of %s", need.getKey(), growing.get(i))
            .isGreaterThanOrEqualTo(need.getValue().applyAsDouble(less) * (1 - 1e-9));
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void thePrimariesCarryTheLoadAndOneLessWouldNot(Way way) {
    Load load = load(way, 1_024, 200_000);
    int primaries = model.estimate(load, machine).primaries();

    assertThat(primaries).isGreaterThan(1);
    assertThat(highestShare(load.with(200_000.0 / primaries))).isLessThanOrEqualTo(1 + 1e-9);
    assertThat(highestShare(load.with(200_000.0 / (primaries - 1)))).isGreaterThan(1);
  }

  private static double highestShare(Load load) {
    return model.shares(load, machine).values().stream().mapToDouble(each -> each).max().orElse(0);
  }

  @Test
  void atItsLimitAResourceIsUsedUp() {
    Load load = load(Way.TRANSACTIONAL, 1_024, 1);

    model
        .limits(load, machine)
        .forEach(
            (resource, rate) ->
                assertThat(model.shares(load.with(rate), machine).get(resource))
                    .as(resource.label())
                    .isCloseTo(1, within(1e-6)));
  }

  /** 86,400,000 rows of 1,365.3 and 185.1 bytes, and 1.388 times that. */
  @Test
  void recordsTakeTheirRetentionTimesTheRate() {
    assertThat(model.liveBytes(load(Way.TRANSACTIONAL, 1_024, 1_000)))
        .isCloseTo(
            86_400_000 * (8_192 / 6.0 + calibration.record().indexBytes()) * calibration.bloat(),
            withinPercentage(0.001));
  }

  /** Little's law. */
  @Test
  void connectionsAreTheRateTimesTheTimeThatACallHoldsOne() {
    double held = calibration.holdMicros(Way.TRANSACTIONAL, 500, 1_500);

    assertThat(held).isCloseTo(4 * 560 + (408.5 + 272.6) * 1.663 + 1_500, within(2.0));
    assertThat(model.estimate(load(Way.TRANSACTIONAL, 1_024, 1_000), machine).busyConnections())
        .isCloseTo(2_000 * held / 1e6, withinPercentage(0.001));
  }

  @Test
  void aPeakOfTwiceAsMuchNeedsTwiceTheCoresAndNoMoreDisk() {
    Load even =
        new Load(1_000, 1, 0, Way.TRANSACTIONAL, 1_024, Duration.ofDays(1), calibration.handler());
    Load peaks =
        new Load(1_000, 2, 0, Way.TRANSACTIONAL, 1_024, Duration.ofDays(1), calibration.handler());

    assertThat(model.estimate(peaks, machine).databaseCores())
        .isCloseTo(2 * model.estimate(even, machine).databaseCores(), withinPercentage(0.001));
    assertThat(model.estimate(peaks, machine).liveBytes())
        .isEqualTo(model.estimate(even, machine).liveBytes());
  }

  @Test
  void withoutReplicasNoLogIsReplayedOrSent() {
    Machine alone =
        new Machine(32, 4e12, 1e9, 1.25e9, 500, 500, 500, 0.7, 0, false, Machine.Vacuum.DEFAULTS);
    Load load = load(Way.TRANSACTIONAL, 0, 1_000);

    assertThat(model.shares(load, alone)).doesNotContainKey(Resource.LOG_REPLAY);
    assertThat(model.shares(load, alone).get(Resource.NETWORK)).isZero();
  }

  @Test
  void withoutTheLibraryNothingIsKept() {
    Estimate bare = model.estimate(load(Way.BARE, 1_024, 1_000), machine);

    assertThat(bare.liveBytes()).isZero();
    assertThat(bare.upkeep()).isEmpty();
    assertThat(bare.walBytesPerCreate()).isEqualTo(calibration.handler().walBytes());
  }

  /** However many creates there are, a retention has 1 / 0.2 vacuums for each dead row of one. */
  @ParameterizedTest
  @CsvSource({"TRANSACTIONAL, 17280", "RESERVED, 8640"})
  void theTimeBetweenVacuumsIsAShareOfTheRetention(Way way, double seconds) {
    for (double rate : new double[] {1_000, 100_000}) {
      Upkeep upkeep =
          Upkeep.of(load(way, 1_024, rate), Machine.Vacuum.DEFAULTS, calibration.record());
      assertThat(upkeep.seconds() - upkeep.runSeconds()).isCloseTo(seconds, within(60.0));
    }
  }

  @Test
  void tenTimesTheCostLimitMakesAVacuumTenTimesAsFast() {
    Load load = load(Way.TRANSACTIONAL, 1_024, 1_000);
    Upkeep slow = Upkeep.of(load, new Machine.Vacuum(0.2, 200), calibration.record());
    Upkeep fast = Upkeep.of(load, new Machine.Vacuum(0.2, 2_000), calibration.record());

    assertThat(slow.runSeconds()).isCloseTo(10 * fast.runSeconds(), withinPercentage(0.001));
    assertThat(slow.bytes()).isEqualTo(fast.bytes());
    assertThat(slow.share(1e9)).isCloseTo(fast.share(1e9), withinPercentage(0.001));
  }

  @ParameterizedTest
  @CsvSource({"1, 3600", "100, 300", "5000, 10", "100000, 1"})
  void aSweepFindsAtMostFiftyThousandRecords(double rate, double seconds) {
    Machine large =
        new Machine(1e6, 1e18, 1e15, 1e15, 1e6, 500, 500, 1, 0, false, Machine.Vacuum.DEFAULTS);

    assertThat(model.estimate(load(Way.TRANSACTIONAL, 1_024, rate), large).sweepSeconds())
        .isEqualTo(seconds);
  }

  /** 200 million, by one and by three a create. */
  @ParameterizedTest
  @CsvSource({"TRANSACTIONAL, 200000", "JOINED, 100000", "RESERVED, 66667"})
  void rowsAreFrozenWhenSoManyTransactionIdsAreUsedUp(Way way, double seconds) {
    assertThat(model.estimate(load(way, 1_024, 1_000), machine).freezeSeconds())
        .isCloseTo(seconds, within(1.0));
  }

  private static Load load(Way way, int answerBytes, double rate) {
    return new Load(rate, 2, 0.01, way, answerBytes, Duration.ofDays(1), calibration.handler());
  }
}
