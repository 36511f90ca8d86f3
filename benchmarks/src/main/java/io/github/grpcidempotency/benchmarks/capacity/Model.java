package io.github.grpcidempotency.benchmarks.capacity;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The formulas. */
final class Model {
  private static final double SECONDS_PER_DAY = 86_400;

  /** How many cores a server of the service has. */
  private static final double SERVER_CORES = 4;

  private static final int LEAST_SERVERS = 2;

  /** A pool has so many standard deviations of a random arrival more than are busy on average. */
  private static final double DEVIATIONS = 3;

  /** A page of the table is written by a checkpoint after each stage of its rows' life. */
  private static final double PAGE_WRITES = 3;

  /** autovacuum_freeze_max_age. */
  private static final double FREEZE_AGE = 200e6;

  /** Half of all transaction ids; nothing may be older. */
  private static final double LONGEST_AGE = 2e9;

  private static final double MOST_PER_SWEEP = 50_000;
  private static final List<Double> INTERVALS =
      List.of(3_600.0, 1_800.0, 600.0, 300.0, 120.0, 60.0, 30.0, 10.0, 5.0, 2.0);
  private static final double SHORTEST_INTERVAL = 1;

  /** What the formulas take beside the calibration. */
  static final List<Constant> CONSTANTS =
      List.of(
          assumed("speed of n cores, of that of one", 1, "× n", "one machine of two was measured"),
          assumed(
              "writes of a row's page by checkpoints", PAGE_WRITES, "", "once a stage of its life"),
          assumed("cores of a server of the service", SERVER_CORES, "", ""),
          assumed("room in a pool", DEVIATIONS, "√ busy", "arrivals at random"),
          assumed(
              "records in one sweep, at most", MOST_PER_SWEEP, "", "a sweep of a second or less"),
          taken("autovacuum_freeze_max_age", FREEZE_AGE, "", "PostgreSQL's default"),
          taken("oldest transaction id", LONGEST_AGE, "", "PostgreSQL: 2³¹, with some room"));

  private final Calibration calibration;

  /** Takes the constants. */
  Model(Calibration calibration) {
    this.calibration = calibration;
  }

  /** Returns what a load needs, on primaries of a kind. */
  Estimate estimate(Load load, Machine machine) {
    double perPrimary = perPrimary(load, machine);
    int primaries = (int) Math.ceil(load.createsPerSecond() / perPrimary - 1e-9);
    Load share = load.with(load.createsPerSecond() / primaries);
    double wal = walPerCreate(load);
    int servers = (int) Math.ceil(servers(load, machine) - 1e-9);
    return new Estimate(
        load.atPeak() * databaseMicros(load) / 1e6 / machine.headroom(),
        load.atPeak() * serviceMicros(load) / 1e6 / machine.headroom(),
        wal,
        wal * load.createsPerSecond() * SECONDS_PER_DAY,
        liveBytes(load),
        busy(load, machine),
        servers,
        (int) Math.ceil(pool(load, machine, servers)),
        upkeep(share, machine),
        sweepSeconds(share.createsPerSecond()),
        FREEZE_AGE / idsPerSecond(share),
        first(load.with(perPrimary), machine),
        perPrimary,
        primaries);
  }

  /** Returns the rate at which each resource of one primary is used up. */
  Map<Resource, Double> limits(Load load, Machine machine) {
    Map<Resource, Double> limits = new EnumMap<>(Resource.class);
    for (Resource resource : Resource.values()) {
      limits.put(
          resource, highest(rate -> shares(load.with(rate), machine).getOrDefault(resource, 0.0)));
    }
    return limits;
  }

  /** Returns what is used up, or will be first. */
  private Resource first(Load load, Machine machine) {
    return shares(load, machine).entrySet().stream()
        .max(Map.Entry.comparingByValue())
        .orElseThrow()
        .getKey();
  }

  private double perPrimary(Load load, Machine machine) {
    return highest(
        rate ->
            shares(load.with(rate), machine).values().stream()
                .mapToDouble(each -> each)
                .max()
                .orElseThrow());
  }

  private interface ShareAt {
    double of(double createsPerSecond);
  }

  /** Every share grows with the rate. */
  private static double highest(ShareAt share) {
    double low = 0;
    double high = 1e12;
    for (int i = 0; i < 200; i++) {
      double middle = low + (high - low) / 2;
      if (share.of(middle) <= 1) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /** Returns how much of all that one primary may use this load takes. */
  Map<Resource, Double> shares(Load load, Machine machine) {
    double wal = walPerCreate(load);
    double peak = load.atPeak();
    double servers = servers(load, machine);
    Map<Resource, Double> used = new EnumMap<>(Resource.class);
    used.put(Resource.CORES, peak * databaseMicros(load) / 1e6 / machine.cores());
    used.put(Resource.DISK_SPACE, liveBytes(load) / machine.diskBytes());
    used.put(
        Resource.DISK_SPEED,
        (peak * (wal + PAGE_WRITES * recordBytes(load)) + vacuumBytesPerSecond(load, machine))
            / machine.diskBytesPerSecond());
    used.put(
        Resource.NETWORK,
        (peak * machine.replicas() * wal
                + peak * (1 + load.replaysPerCreate()) * load.answerBytes())
            / machine.networkBytesPerSecond());
    used.put(Resource.CONNECTIONS, servers * pool(load, machine, servers) / machine.connections());
    used.put(
        Resource.VACUUM,
        upkeep(load, machine).map(run -> run.share(machine.diskBytesPerSecond())).orElse(0.0));
    if (machine.replicas() > 0) {
      used.put(Resource.LOG_REPLAY, peak * wal / (calibration.replayedBytesPerMicro() * 1e6));
    }
    // All that lives must have been read and frozen before the oldest id is too old.
    double scanSeconds = liveBytes(load) / machine.diskBytesPerSecond();
    used.put(Resource.TRANSACTION_IDS, scanSeconds * idsPerSecond(load) / LONGEST_AGE);
    used.replaceAll((resource, share) -> share / machine.headroom());
    return used;
  }

  /** Processor time of the database for a create, its record's end, and its share of replays. */
  double databaseMicros(Load load) {
    double idempotency =
        calibration.of(load.way()).databaseMicros() - calibration.of(Way.BARE).databaseMicros();
    double upkeep =
        load.way().isRecorded()
            ? calibration.sweepMicros() + load.way().deadRows() * calibration.vacuumMicros()
            : 0;
    return load.handler().cpuMicros()
        + idempotency
        + upkeep
        + load.replaysPerCreate() * calibration.replayMicros(load.way());
  }

  private double serviceMicros(Load load) {
    return calibration.of(load.way()).serviceMicros() * (1 + load.replaysPerCreate());
  }

  double walPerCreate(Load load) {
    return calibration.walBytes(load.way(), load.handler().walBytes(), load.answerBytes());
  }

  private double recordBytes(Load load) {
    return load.way().isRecorded() ? calibration.record().withIndexes(load.answerBytes()) : 0;
  }

  double liveBytes(Load load) {
    return load.rows() * recordBytes(load) * calibration.bloat();
  }

  private double idsPerSecond(Load load) {
    return load.createsPerSecond() * calibration.of(load.way()).transactionIds();
  }

  private double busy(Load load, Machine machine) {
    return load.atPeak()
        * calibration.holdMicros(load.way(), machine.networkMicros(), machine.commitMicros())
        / 1e6;
  }

  private double servers(Load load, Machine machine) {
    return Math.max(
        LEAST_SERVERS,
        load.atPeak() * serviceMicros(load) / 1e6 / machine.headroom() / SERVER_CORES);
  }

  /** One more connection listens for the ends of others' calls. */
  private double pool(Load load, Machine machine, double servers) {
    double busy = busy(load, machine) / servers;
    return busy + DEVIATIONS * Math.sqrt(busy) + 1;
  }

  private static Constant assumed(String name, double value, String unit, String source) {
    return new Constant(name, value, unit, Constant.Origin.ASSUMED, source);
  }

  private static Constant taken(String name, double value, String unit, String source) {
    return new Constant(name, value, unit, Constant.Origin.TAKEN, source);
  }

  private Optional<Upkeep> upkeep(Load load, Machine machine) {
    return load.way().isRecorded()
        ? Optional.of(Upkeep.of(load, machine.vacuum(), calibration.record()))
        : Optional.empty();
  }

  private double vacuumBytesPerSecond(Load load, Machine machine) {
    return upkeep(load, machine).map(each -> each.bytes() / each.seconds()).orElse(0.0);
  }

  private static double sweepSeconds(double createsPerSecond) {
    return INTERVALS.stream()
        .filter(interval -> interval * createsPerSecond <= MOST_PER_SWEEP)
        .findFirst()
        .orElse(SHORTEST_INTERVAL);
  }
}
