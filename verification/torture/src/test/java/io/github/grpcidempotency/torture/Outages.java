package io.github.grpcidempotency.torture;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.mapping;
import static java.util.stream.Collectors.toList;

import io.github.grpcidempotency.torture.History.Call;
import io.github.grpcidempotency.torture.History.Fault;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * For how long failovers kept keys from being answered: the longest time from a fault, or from the
 * last answer before it was felt, to the next answer. Only answers that had to be recorded count:
 * no replays, and none of a procedure that fails open. What a server suffered beside that does not
 * count.
 *
 * @param millis by the kind of failover, then by the server, with -1 for all of them together
 */
record Outages(Map<FaultKind, Map<Integer, List<Long>>> millis) {
  private static final int ALL = -1;
  private static final long RECOVERY_MILLIS = 3_000;

  private record Outage(FaultKind kind, int server, long millis) {}

  static Outages of(History history) {
    Map<Integer, long[]> answers = new TreeMap<>();
    answers.put(ALL, times(history, Optional.empty()));
    history.lives().stream()
        .map(History.Life::server)
        .distinct()
        .forEach(server -> answers.put(server, times(history, Optional.of(server))));
    return new Outages(
        history.faults().stream()
            .filter(fault -> fault.kind().isFailover())
            .flatMap(
                fault ->
                    answers.entrySet().stream()
                        .filter(entry -> !isDisturbed(history, fault, entry.getKey()))
                        .map(
                            entry ->
                                new Outage(
                                    fault.kind(),
                                    entry.getKey(),
                                    longestGap(entry.getValue(), fault))))
            .collect(
                groupingBy(
                    Outage::kind,
                    TreeMap::new,
                    groupingBy(Outage::server, TreeMap::new, mapping(Outage::millis, toList())))));
  }

  /** Whether a server was dead or stopped meanwhile, or had just been. */
  private static boolean isDisturbed(History history, Fault failover, int server) {
    return history.faults().stream()
        .filter(fault -> fault.server() == server && !fault.kind().isFailover())
        .anyMatch(fault -> fault.touches(failover.start() - RECOVERY_MILLIS, failover.end()));
  }

  private static long[] times(History history, Optional<Integer> server) {
    return history.calls().stream()
        .filter(call -> call.isOk() && !call.replayed() && call.form() != Form.FAIL_OPEN)
        .filter(call -> server.map(wanted -> wanted == call.server()).orElse(true))
        .mapToLong(Call::end)
        .sorted()
        .toArray();
  }

  private static long longestGap(long[] answers, Fault fault) {
    long longest = 0;
    long last = fault.start();
    for (long answer : answers) {
      if (answer > fault.start() && last < fault.end()) {
        longest = Math.max(longest, answer - last);
        last = answer;
      }
    }
    return longest;
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    millis.forEach(
        (kind, ofServers) ->
            ofServers.forEach(
                (server, all) -> {
                  long[] sorted = all.stream().mapToLong(Long::longValue).sorted().toArray();
                  text.append(
                      "  %-18s %-10s %4d times, without an answer for %,7d ms (median), %,7d ms (worst)%n"
                          .formatted(
                              kind,
                              server == ALL ? "anywhere" : ServerNode.name(server),
                              sorted.length,
                              sorted[(sorted.length - 1) / 2],
                              Arrays.stream(sorted).max().orElse(0)));
                }));
    return text.toString();
  }
}
