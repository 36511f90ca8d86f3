package io.github.grpcidempotency.benchmarks.scenario;

import java.util.ArrayList;
import java.util.List;

/** One kind of work in one round, on a plain table and on others. */
final class Comparer {
  private final MeasuredLines lines;
  private final String work;
  private final boolean counts;
  private final List<One> all = new ArrayList<>();

  /** What one table came to. */
  private record One(TableUnderLoad table, TableUnderLoad.Measured measured) {}

  Comparer(MeasuredLines lines, String work, boolean counts) {
    this.lines = lines;
    this.work = work;
    this.counts = counts;
  }

  void add(TableUnderLoad table, TableUnderLoad.Measured measured) {
    all.add(new One(table, measured));
  }

  /** Adds a line for each table, in the order of their numbers of partitions. */
  void compare() {
    if (!counts) {
      return;
    }
    all.sort((one, other) -> one.table().table().partitions() - other.table().table().partitions());
    TableUnderLoad.Measured plain = all.get(0).measured();
    for (One one : all) {
      String label = "%s: %s".formatted(work, one.table().label());
      TableUnderLoad.Measured own = one.measured();
      lines.add(label, "times one table", own.load().perSecond() / plain.load().perSecond());
      lines.add(label, "calls/s", own.load().perSecond());
      lines.add(label, "p50 (ms)", own.load().millis().p50());
      lines.add(label, "p99 (ms)", own.load().millis().p99());
      lines.add(
          label, "p99, times one table", own.load().millis().p99() / plain.load().millis().p99());
      lines.add(label, "database CPU (µs)", own.cpuMicros());
      lines.add(label, "CPU, times one table", own.cpuMicros() / plain.cpuMicros());
      lines.add(label, "WAL per call (B)", own.walBytes());
      lines.add(label, "pages read per call", own.blocksRead());
    }
  }
}
