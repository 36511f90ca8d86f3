package io.github.grpcidempotency.benchmarks.capacity;

import io.github.grpcidempotency.benchmarks.service.Variant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The formulas: the measured cost of one create, multiplied by the rate. */
final class Model {
  static final String DATABASE = "database CPU (µs)";
  static final String SERVICE = "JVM CPU (µs)";
  static final String CALLS_PER_SECOND = "calls/s";

  /** The ways to run a create that the page compares. */
  static final List<Variant> WAYS =
      List.of(
          Variant.BARE,
          Variant.RESERVED,
          Variant.RESERVED_SAME_DATABASE,
          Variant.JOINED_COMMIT,
          Variant.TRANSACTIONAL,
          Variant.FIRST_STATEMENT);

  // Assumed, as the page says.
  static final double PEAK = 2;
  static final double HEADROOM = 0.7;
  static final double REPLAYS = 0.01;
  static final double NETWORK_MICROS = 500;
  static final double REPLICAS = 2;
  static final double CORES = 32;
  static final double DISK_BYTES = 4e12;
  static final double CONNECTIONS = 500;
  static final double DISK_SPEED = 1e9;
  static final double NETWORK_SPEED = 1.25e9;
  static final double SERVER_CORES = 4;
  static final double POOL_DEVIATIONS = 3;
  static final double PAGE_WRITES = 3;
  static final double RECORDS_PER_SWEEP = 50_000;

  // PostgreSQL's own.
  static final double SCALE_FACTOR = 0.2;
  static final double FREEZE_AGE = 200e6;

  // Of the machine and the service that the benchmarks ran on.
  static final double WAKE_MICROS = 60;
  static final int BENCHMARK_CORES = 2;
  static final int NETWORK_CALLERS = 4;
  static final double MEASURED_NETWORK_MICROS = 1_000;
  private static final int BENCHMARK_ANSWER = 69;
  private static final int ANY_SIZE = 1_024;

  /** The measurements of the steady state in which the table neither grows nor stays unvacuumed. */
  private static final List<String> STEADY =
      List.of(
          "reserved, same database, 1/s, autovacuum: defaults",
          "reserved, same database, 100/s, autovacuum: defaults",
          "reserved, same database, as many as possible, autovacuum: defaults",
          "reserved, same database, as many as possible, autovacuum: scale factor 0.05,"
              + " cost limit 2000");

  private static final List<Double> SWEEP_INTERVALS =
      List.of(3_600.0, 1_800.0, 600.0, 300.0, 120.0, 60.0, 30.0, 10.0, 5.0, 2.0);

  final Measurements measured;
  final double bloat;
  final double idleFactor;
  final double flushMicros;
  final double usable;

  /** Fits the values that no single result contains. */
  Model(Measurements measured) {
    this.measured = measured;
    List<Double> bloats =
        STEADY.stream()
            .map(
                line ->
                    measured.of(Measurements.STEADY, line, "MB")
                        / measured.of(Measurements.STEADY, line, "MB packed"))
            .sorted()
            .toList();
    this.bloat = (bloats.get(1) + bloats.get(2)) / 2;
    double busyMicros = micros(Variant.BARE, DATABASE) + micros(Variant.BARE, SERVICE);
    double idleMicros = acrossNetwork(DATABASE) + acrossNetwork(SERVICE);
    this.idleFactor = idleMicros / busyMicros;
    this.flushMicros =
        (NETWORK_CALLERS * 1e6 / acrossNetwork(CALLS_PER_SECOND)
                - counted(Variant.BARE, "round trips") * (MEASURED_NETWORK_MICROS + WAKE_MICROS)
                - idleMicros)
            / counted(Variant.BARE, "flushes of the log");
    this.usable =
        measured.of(Measurements.CALLS, Variant.BARE.label(), CALLS_PER_SECOND)
            * busyMicros
            / (BENCHMARK_CORES * 1e6);
  }

  private double acrossNetwork(String metric) {
    return measured.of(Measurements.NETWORK, Variant.BARE.label(), metric);
  }

  double counted(Variant way, String metric) {
    return measured.of(Measurements.COUNTED, way.label(), metric);
  }

  double transactionIds(Variant way) {
    return Math.floor(counted(way, "transactions"));
  }

  /** Reserved calls whose effect is elsewhere were measured on PostgreSQL 17 only. */
  double micros(Variant way, String metric) {
    if (way != Variant.RESERVED) {
      return measured.of(Measurements.CALLS, way.label(), metric);
    }
    String same = Variant.RESERVED_SAME_DATABASE.label();
    return measured.of(Measurements.CALLS, same, metric)
        * measured.of(Measurements.CALLS_ON_17, way.label(), metric)
        / measured.of(Measurements.CALLS_ON_17, same, metric);
  }

  double sweepMicros() {
    return measured.ofRecord(Measurements.LIFE, Variant.TRANSACTIONAL, ANY_SIZE, "sweep (µs)");
  }

  double vacuumMicros() {
    return measured.ofRecord(Measurements.LIFE, Variant.TRANSACTIONAL, ANY_SIZE, "vacuum (µs)");
  }

  double replayedBytesPerSecond() {
    return 1e6 * measured.of(Measurements.LOG_REPLAY, "transactional, answers of 1,024 B", "MB/s");
  }

  /** Returns whether a record is written twice: the reservation, and the answer. */
  static boolean isReserved(Variant way) {
    return way == Variant.RESERVED
        || way == Variant.RESERVED_SAME_DATABASE
        || way == Variant.JOINED_COMMIT;
  }

  /** Returns the processor time for a create, its record's end, and its share of replays. */
  double databaseMicros(Variant way) {
    if (way == Variant.BARE) {
      return micros(way, DATABASE) * (1 + REPLAYS);
    }
    Variant replayed = isReserved(way) ? Variant.RESERVED : Variant.TRANSACTIONAL;
    return micros(way, DATABASE)
        + sweepMicros()
        + (isReserved(way) ? 2 : 1) * vacuumMicros()
        + REPLAYS * measured.of(Measurements.REPLAYS, "replay of " + replayed.label(), DATABASE);
  }

  double serviceMicros(Variant way) {
    return micros(way, SERVICE) * (1 + REPLAYS);
  }

  /** Returns how long a call holds a connection, or several connections one after the other. */
  double heldMicros(Variant way, double networkMicros, double commitMicros) {
    return counted(way, "round trips") * (networkMicros + WAKE_MICROS)
        + (micros(way, DATABASE) + micros(way, SERVICE)) * idleFactor
        + counted(way, "flushes of the log") * commitMicros;
  }

  /** Returns the same if a commit waits for one of the replicas. */
  double heldMicros(Variant way) {
    return heldMicros(way, NETWORK_MICROS, 2 * flushMicros + NETWORK_MICROS);
  }

  /**
   * Returns how many bytes of WAL a record writes during its life, in addition to its handler and
   * its resource.
   */
  double lifeBytes(Variant way, int answerBytes, String suffix) {
    return List.of("made in its place", "swept", "vacuumed").stream()
        .mapToDouble(
            stage -> measured.ofRecord(Measurements.LIFE, way, answerBytes, stage + suffix))
        .sum();
  }

  /**
   * Returns how many bytes of WAL a create writes, with its handler and the whole life of its
   * record.
   */
  double logBytes(Load load) {
    double call = counted(load.way(), "WAL (B)");
    if (!load.isRecorded()) {
      return call;
    }
    // The counted call has a small answer, and its pages need no images.
    return call
        + lifeBytes(load.way(), load.answerBytes(), ", after a checkpoint")
        - measured.ofRecord(Measurements.LIFE, load.way(), BENCHMARK_ANSWER, "made in its place");
  }

  double rowBytes(Load load) {
    return measured.ofRecord(
        Measurements.SIZE, Variant.TRANSACTIONAL, load.answerBytes(), "heap and TOAST, packed");
  }

  double indexBytes() {
    return List.of("pkey", "key", "expires", "project_id_idx").stream()
        .mapToDouble(
            index -> measured.ofRecord(Measurements.SIZE, Variant.TRANSACTIONAL, 100, index))
        .sum();
  }

  private double recordBytes(Load load) {
    return load.isRecorded() ? rowBytes(load) + indexBytes() : 0;
  }

  double liveBytes(Load load) {
    return load.rows() * recordBytes(load) * bloat;
  }

  double databaseCores(Load load) {
    return load.rate() * PEAK * databaseMicros(load.way()) / 1e6 / HEADROOM;
  }

  double serviceCores(Load load) {
    return load.rate() * PEAK * serviceMicros(load.way()) / 1e6 / HEADROOM;
  }

  /** Returns the connections that are busy at the peak, by Little's law. */
  double busyConnections(Load load) {
    return load.rate() * PEAK * heldMicros(load.way()) / 1e6;
  }

  int servers(Load load) {
    return (int) Math.max(2, Math.ceil(serviceCores(load) / SERVER_CORES - 1e-9));
  }

  /** One more connection listens for the ends of other servers' calls. */
  static double pool(double busy) {
    return busy + POOL_DEVIATIONS * Math.sqrt(busy) + 1;
  }

  /** Returns, for each resource of one primary, the rate of calls that exhausts it. */
  Map<String, Double> limits(Load load) {
    Load one = load.at(1);
    double log = logBytes(load);
    double vacuumed = load.isRecorded() ? vacuumBytes(one) / vacuumSeconds(one) : 0;
    double perServer = SERVER_CORES / serviceCores(one);
    Map<String, Double> limits = new LinkedHashMap<>();
    limits.put("cores", CORES / databaseCores(one));
    limits.put("disk space", HEADROOM * DISK_BYTES / liveBytes(one));
    limits.put(
        "disk speed",
        HEADROOM * DISK_SPEED / (PEAK * (log + PAGE_WRITES * recordBytes(load)) + vacuumed));
    limits.put(
        "network",
        HEADROOM * NETWORK_SPEED / (PEAK * (REPLICAS * log + (1 + REPLAYS) * load.answerBytes())));
    limits.put(
        "connections",
        HEADROOM * CONNECTIONS * perServer / pool(busyConnections(load.at(perServer))));
    limits.put(
        "replay of the log on a replica (one process)",
        HEADROOM * replayedBytesPerSecond() / (PEAK * log));
    return limits;
  }

  Map.Entry<String, Double> firstLimit(Load load) {
    return limits(load).entrySet().stream().min(Map.Entry.comparingByValue()).orElseThrow();
  }

  int primaries(Load load) {
    return (int) Math.ceil(load.rate() / firstLimit(load).getValue() - 1e-9);
  }

  /** A vacuum starts when a fifth of the rows is dead. */
  double vacuumSeconds(Load load) {
    return SCALE_FACTOR * load.retention().toSeconds() / load.deadRows();
  }

  /** A vacuum reads the dead rows, and all indexes. */
  double vacuumBytes(Load load) {
    return load.rows() * (SCALE_FACTOR * rowBytes(load) + indexBytes());
  }

  double freezeSeconds(Load load) {
    return FREEZE_AGE / (load.rate() * transactionIds(load.way()));
  }

  static double sweepSeconds(double rate) {
    return SWEEP_INTERVALS.stream()
        .filter(interval -> interval * rate <= RECORDS_PER_SWEEP)
        .findFirst()
        .orElse(1.0);
  }
}
