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
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * Calls every key once more after the last fault: all keys at the same time, then those that were
 * not answered alone. A long serializable transaction can fail as often as it is tried beside
 * others, and says nothing about its key.
 */
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
    Queue<Set<Operation>> unanswered = new ConcurrentLinkedQueue<>();
    ExecutorService threads = Executors.newFixedThreadPool(AT_ONCE);
    for (Set<Operation> ofKey : operations.values()) {
      threads.execute(
          () -> {
            if (!probeKey(ofKey)) {
              unanswered.add(ofKey);
            }
          });
    }
    threads.shutdown();
    if (!threads.awaitTermination(20, TimeUnit.MINUTES)) {
      throw new IllegalStateException("the probes do not end");
    }
    boolean answered = true;
    while (answered && !unanswered.isEmpty()) {
      answered = probeKey(unanswered.remove());
    }
  }

  /**
   * Sends the first request again. If a key was used for two requests, one of the two must succeed.
   */
  private boolean probeKey(Set<Operation> operations) {
    return operations.stream().anyMatch(this::probe);
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
