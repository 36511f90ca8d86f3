package io.github.grpcidempotency.torture;

import io.github.grpcidempotency.torture.History.Fault;
import java.util.EnumMap;
import java.util.Map;
import org.jdbi.v3.core.JdbiException;

/** Prints from time to time how far a run is. */
final class Progress {
  private final TortureClient client;
  private final FaultInjector faults;
  private final TortureDatabase database;
  private final long start = System.currentTimeMillis();

  Progress(TortureClient client, FaultInjector faults, TortureDatabase database) {
    this.client = client;
    this.faults = faults;
    this.database = database;
  }

  @SuppressWarnings("SystemOut") // whoever waits for a long run reads it
  void print() {
    Map<FaultKind, Integer> kinds = new EnumMap<>(FaultKind.class);
    for (Fault fault : faults.happened()) {
      kinds.merge(fault.kind(), 1, Integer::sum);
    }
    System.out.printf(
        "%4d s: %d calls, %d answered, %d replays, %s takeovers, faults %s%n",
        (System.currentTimeMillis() - start) / 1_000,
        client.count(),
        client.answered(),
        client.replayed(),
        takeovers(),
        kinds);
  }

  private String takeovers() {
    try {
      return Long.toString(database.takeovers());
    } catch (JdbiException databaseIsOut) {
      return "?";
    }
  }
}
