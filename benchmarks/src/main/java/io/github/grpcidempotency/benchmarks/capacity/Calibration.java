package io.github.grpcidempotency.benchmarks.capacity;

import io.github.grpcidempotency.benchmarks.capacity.Constant.Origin;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.DoubleStream;

/** What the formulas take from the benchmarks, and from elsewhere. */
final class Calibration {
  static final String CALLS = "postgresql-18/calls";
  static final String NETWORK = "postgresql-18/calls-across-a-network";
  private static final String OLDER_CALLS = "calls";
  private static final String COUNTED = "cost-of-a-call";
  private static final String REPLAYS = "postgresql-18/replays";
  private static final String SIZE = "record-size";
  private static final String LIFE = "life-of-a-record";
  static final String STEADY = "steady-state";
  private static final String LOG_REPLAY = "replay-of-the-log";

  private static final String DATABASE_CPU = "database CPU (µs)";
  private static final String SERVICE_CPU = "JVM CPU (µs)";
  static final String PER_SECOND = "calls/s";

  /** The answer that the benchmarks' service gives: an id, and a name of 29 letters. */
  static final int BENCHMARK_ANSWER = 69;

  /** Of the scenario across a network. */
  static final int NETWORK_CALLERS = 4;

  static final double NETWORK_MICROS = 1_000;

  /** Of the machine that the benchmarks ran on. */
  static final int BENCHMARK_CORES = 2;

  /** What benchmarks/README.md says of the machine: a thread wakes so much late. */
  private static final double WAKE_MICROS = 60;

  /** The lines of the steady state whose table neither grows nor is left alone. */
  private static final List<String> STEADY_RESERVED =
      List.of(
          "reserved, same database, 1/s, autovacuum: defaults",
          "reserved, same database, 100/s, autovacuum: defaults",
          "reserved, same database, as many as possible, autovacuum: defaults",
          "reserved, same database, as many as possible, autovacuum: scale factor 0.05,"
              + " cost limit 2000");

  /**
   * One call.
   *
   * @param databaseMicros processor time of the database
   * @param serviceMicros processor time of the service, its clients' included
   * @param roundTrips to the database
   * @param flushes of the log that it waits for
   * @param transactionIds that it uses up
   * @param walBytes what it writes to the log, with the benchmarks' small answer
   */
  record Call(
      double databaseMicros,
      double serviceMicros,
      double roundTrips,
      double flushes,
      double transactionIds,
      double walBytes) {}

  /** What a record writes to the log, by the stages of its life. */
  record Life(StageBytes made, StageBytes swept, StageBytes vacuumed) {
    double of(int answerBytes) {
      return made.of(answerBytes) + swept.of(answerBytes) + vacuumed.of(answerBytes);
    }
  }

  private final Measurements measurements;
  private final List<Constant> constants = new ArrayList<>();
  private final Map<Way, Call> calls = new EnumMap<>(Way.class);
  private final Map<Way, Double> replays = new EnumMap<>(Way.class);
  private final Map<Way, Life> withoutCheckpoints = new EnumMap<>(Way.class);
  private final Map<Way, Life> afterCheckpoints = new EnumMap<>(Way.class);
  private final RecordBytes record;
  private final double bloat;
  private final double idleFactor;
  private final double flushMicros;
  private final double usable;
  private final double sweepMicros;
  private final double vacuumMicros;
  private final double replayedBytesPerMicro;

  /** Fits the formulas to the results. */
  Calibration(Measurements measurements) {
    this.measurements = measurements;
    for (Way way : Way.values()) {
      calls.put(way, call(way));
    }
    this.record = fitRecord();
    for (Way way : Way.values()) {
      replays.put(way, replay(way));
      withoutCheckpoints.put(way, fitLife(way, ""));
      afterCheckpoints.put(way, fitLife(way, ", after a checkpoint"));
    }
    this.bloat =
        fitted(
            "table in its steady state, of a packed one",
            median(
                STEADY_RESERVED.stream()
                    .mapToDouble(each -> steady(each, "MB") / steady(each, "MB packed"))),
            "",
            "median of four reserved lines of steady-state.csv");
    Call bare = of(Way.BARE);
    String bareLabel = Way.BARE.label();
    double idleMicros =
        measurements.of(NETWORK, bareLabel, DATABASE_CPU)
            + measurements.of(NETWORK, bareLabel, SERVICE_CPU);
    this.idleFactor =
        fitted(
            "processor time of a call at 4 calls, of that at 16",
            idleMicros / (bare.databaseMicros() + bare.serviceMicros()),
            "",
            "the bare handler in calls-across-a-network.csv and calls.csv");
    taken("a thread wakes late by", WAKE_MICROS, "µs", "benchmarks/README.md");
    double wholeMicros = NETWORK_CALLERS * 1e6 / measurements.of(NETWORK, bareLabel, PER_SECOND);
    this.flushMicros =
        fitted(
            "a flush of the log, and what else a call waits for",
            (wholeMicros - bare.roundTrips() * (NETWORK_MICROS + WAKE_MICROS) - idleMicros)
                / bare.flushes(),
            "µs",
            "the bare handler in calls-across-a-network.csv");
    this.usable =
        fitted(
            "share of two cores that 16 calls can use",
            measurements.of(CALLS, bareLabel, PER_SECOND)
                * (bare.databaseMicros() + bare.serviceMicros())
                / (BENCHMARK_CORES * 1e6),
            "",
            "the bare handler in calls.csv");
    String middle = lifeLabel(Way.TRANSACTIONAL, StageBytes.MIDDLE);
    this.sweepMicros =
        measured("sweep of a record", measurements.of(LIFE, middle, "sweep (µs)"), "µs", LIFE);
    this.vacuumMicros =
        measured("vacuum of a dead row", measurements.of(LIFE, middle, "vacuum (µs)"), "µs", LIFE);
    this.replayedBytesPerMicro =
        measured(
            "replay of the log in one process",
            measurements.of(LOG_REPLAY, middle, "MB/s"),
            "MB/s",
            LOG_REPLAY);
  }

  private Call call(Way way) {
    double database =
        switch (way) {
          case RESERVED ->
              fitted(
                  "reserved, database",
                  measurements.of(CALLS, Way.RESERVED_SAME_DATABASE.label(), DATABASE_CPU)
                      * reservedRatio(DATABASE_CPU),
                  "µs",
                  "18's reserved, same database × 17's ratio");
          case BARE, RESERVED_SAME_DATABASE, JOINED, TRANSACTIONAL, FIRST_STATEMENT ->
              measured(
                  way.label() + ", database",
                  measurements.of(CALLS, way.label(), DATABASE_CPU),
                  "µs",
                  CALLS);
        };
    double service =
        switch (way) {
          case RESERVED ->
              fitted(
                  "reserved, service",
                  measurements.of(CALLS, Way.RESERVED_SAME_DATABASE.label(), SERVICE_CPU)
                      * reservedRatio(SERVICE_CPU),
                  "µs",
                  "18's reserved, same database × 17's ratio");
          case BARE, RESERVED_SAME_DATABASE, JOINED, TRANSACTIONAL, FIRST_STATEMENT ->
              measured(
                  way.label() + ", service",
                  measurements.of(CALLS, way.label(), SERVICE_CPU),
                  "µs",
                  CALLS);
        };
    return new Call(
        database,
        service,
        measurements.of(COUNTED, way.label(), "round trips"),
        measurements.of(COUNTED, way.label(), "flushes of the log"),
        Math.floor(measurements.of(COUNTED, way.label(), "transactions")),
        measured(
            way.label() + ", log", measurements.of(COUNTED, way.label(), "WAL (B)"), "B", COUNTED));
  }

  /** Reserved calls whose effect is elsewhere were measured on 17 only. */
  private double reservedRatio(String metric) {
    return measurements.of(OLDER_CALLS, Way.RESERVED.label(), metric)
        / measurements.of(OLDER_CALLS, Way.RESERVED_SAME_DATABASE.label(), metric);
  }

  private RecordBytes fitRecord() {
    String small = lifeLabel(Way.TRANSACTIONAL, StageBytes.SMALL);
    double indexes =
        DoubleStream.of(
                measurements.of(SIZE, small, "pkey"),
                measurements.of(SIZE, small, "key"),
                measurements.of(SIZE, small, "expires"),
                measurements.of(SIZE, small, "project_id_idx"))
            .sum();
    RecordBytes fit =
        RecordBytes.fit(
            StageBytes.SMALL,
            measurements.of(SIZE, small, "heap and TOAST, packed"),
            measured("entries of a record in four indexes", indexes, "B", SIZE));
    fitted(
        "row beside its answer", fit.otherBytes(), "B", "the smallest answer of record-size.csv");
    return fit;
  }

  /** Returns what a record writes, if its pages were, or were not, changed since a checkpoint. */
  Life life(Way way, boolean isAfterCheckpoints) {
    Map<Way, Life> lives = isAfterCheckpoints ? afterCheckpoints : withoutCheckpoints;
    return Optional.ofNullable(lives.get(way)).orElseThrow();
  }

  private Life fitLife(Way way, String after) {
    return new Life(
        stage(way, "made in its place" + after),
        stage(way, "swept" + after),
        stage(way, "vacuumed" + after));
  }

  private StageBytes stage(Way way, String metric) {
    return StageBytes.fit(record, bytes -> measurements.of(LIFE, lifeLabel(way, bytes), metric));
  }

  static String lifeLabel(Way way, int answerBytes) {
    return "%s, answers of %,d B"
        .formatted(
            (way.isReserved() ? Way.RESERVED_SAME_DATABASE : Way.TRANSACTIONAL).label(),
            answerBytes);
  }

  /**
   * Returns the bytes of the log for one create, of its handler, and of its record's whole life.
   */
  double walBytes(Way way, double handlerBytes, int answerBytes) {
    double ofRecord = of(way).walBytes() - of(Way.BARE).walBytes();
    if (!way.isRecorded()) {
      return handlerBytes;
    }
    // The counted call has a small answer, and its pages need no images.
    return handlerBytes
        + ofRecord
        + life(way, true).of(answerBytes)
        - life(way, false).made().of(BENCHMARK_ANSWER);
  }

  /** Returns how long a call keeps a connection, or several in turn. */
  double holdMicros(Way way, double networkMicros, double commitMicros) {
    Call call = of(way);
    return call.roundTrips() * (networkMicros + WAKE_MICROS)
        + (call.databaseMicros() + call.serviceMicros()) * idleFactor
        + call.flushes() * commitMicros;
  }

  /** Returns the processor time of the database for answering a retry. */
  double replayMicros(Way way) {
    return replays.getOrDefault(way, 0.0);
  }

  private double replay(Way way) {
    return way.isRecorded()
        ? measurements.of(
            REPLAYS,
            "replay of " + (way.isReserved() ? Way.RESERVED : Way.TRANSACTIONAL).label(),
            DATABASE_CPU)
        : of(way).databaseMicros();
  }

  /** Returns how many calls a second so many cores can do if nothing else is in their way. */
  double perSecond(double cores, double microsPerCall) {
    return cores * usable * 1e6 / microsPerCall;
  }

  Call of(Way way) {
    return Optional.ofNullable(calls.get(way)).orElseThrow();
  }

  RecordBytes record() {
    return record;
  }

  double bloat() {
    return bloat;
  }

  /** Returns how long a commit waits on the benchmarks' machine. */
  double flushMicros() {
    return flushMicros;
  }

  double sweepMicros() {
    return sweepMicros;
  }

  double vacuumMicros() {
    return vacuumMicros;
  }

  double replayedBytesPerMicro() {
    return replayedBytesPerMicro;
  }

  /** Returns what the bare handler of the benchmarks takes. */
  Load.Handler handler() {
    Call bare = of(Way.BARE);
    return new Load.Handler(bare.databaseMicros(), bare.walBytes());
  }

  List<Constant> constants() {
    return List.copyOf(constants);
  }

  private double steady(String variant, String metric) {
    return measurements.of(STEADY, variant, metric);
  }

  private static double median(DoubleStream values) {
    double[] sorted = values.sorted().toArray();
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }

  private double measured(String name, double value, String unit, String file) {
    return noted(name, value, unit, Origin.MEASURED, file + ".csv");
  }

  private double fitted(String name, double value, String unit, String source) {
    return noted(name, value, unit, Origin.FITTED, source);
  }

  private void taken(String name, double value, String unit, String source) {
    constants.add(new Constant(name, value, unit, Origin.TAKEN, source));
  }

  private double noted(String name, double value, String unit, Origin origin, String source) {
    constants.add(new Constant(name, value, unit, origin, source));
    return value;
  }
}
