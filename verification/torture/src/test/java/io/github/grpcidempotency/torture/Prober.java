package io.github.grpcidempotency.torture;

import io.github.grpcidempotency.fault.Pause;
import io.github.grpcidempotency.torture.History.Call;
import io.github.grpcidempotency.torture.History.Purpose;
import io.github.grpcidempotency.torture.Operation.Scope;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** Tries every key once more after the last fault. */
final class Prober {
  private static final int AT_ONCE = 32;
  private static final int MAX_HANDLER_FAILURES = 50;
  private static final int MAX_TIMEOUTS = 3;
  private static final int MAX_REFUSALS = 10;
  private static final Duration BETWEEN_REFUSALS = Duration.ofMillis(500);

  private final TortureClient client;
  private final List<ServerNode> servers;

  Prober(TortureClient client, List<ServerNode> servers) {
    this.client = client;
    this.servers = servers;
  }

  void probe(Collection<Call> calls) throws InterruptedException {
    Map<Scope, Set<Operation>> operations =
        calls.stream()
            .collect(
                Collectors.groupingBy(
                    Call::scope,
                    Collectors.mapping(
                        Call::operation, Collectors.toCollection(LinkedHashSet::new))));
    ExecutorService threads = Executors.newFixedThreadPool(AT_ONCE);
    operations.values().forEach(ofKey -> threads.execute(() -> probeKey(ofKey)));
    threads.shutdown();
    if (!threads.awaitTermination(20, TimeUnit.MINUTES)) {
      throw new IllegalStateException("the probes do not end");
    }
  }

  /**
   * Sends the first request again. If a key was used for two requests, one of the two must succeed.
   */
  private void probeKey(Set<Operation> operations) {
    for (Operation operation : operations) {
      if (probe(operation)) {
        return;
      }
    }
  }

  /**
   * A handler that fails leaves its key free, so it is tried again. A machine that is too busy to
   * answer in time says nothing about the key: a blocked key is refused. A server whose life has
   * defects may refuse as well, but not each time.
   */
  private boolean probe(Operation operation) {
    ServerNode server = servers.get(Math.floorMod(operation.hashCode(), servers.size()));
    int failures = 0;
    int timeouts = 0;
    int refusals = 0;
    while (failures < MAX_HANDLER_FAILURES && timeouts < MAX_TIMEOUTS && refusals < MAX_REFUSALS) {
      Call call = client.call(Purpose.PROBE, operation, server).join();
      if (call.isOk() || call.isTerminal()) {
        return true;
      }
      switch (call.code()) {
        case RESOURCE_EXHAUSTED -> failures++;
        case DEADLINE_EXCEEDED -> timeouts++;
        case INVALID_ARGUMENT -> {
          return false;
        }
        default -> {
          refusals++;
          Pause.of(BETWEEN_REFUSALS);
        }
      }
    }
    return false;
  }
}
