package io.github.grpcidempotency.benchmarks.scenario;

import java.lang.management.ManagementFactory;

/** The heap of this process, in which clients and server are. */
final class Heap {
  private static final int COLLECTIONS = 3;

  private Heap() {}

  /** Returns how much of it is used once the garbage is collected. */
  static long usedBytes() {
    for (int i = 0; i < COLLECTIONS; i++) {
      System.gc();
    }
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }
}
