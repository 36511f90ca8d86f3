package io.github.grpcidempotency.torture;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.mapping;
import static java.util.stream.Collectors.toSet;

import com.google.protobuf.ByteString;
import io.github.grpcidempotency.torture.History.Call;
import io.github.grpcidempotency.torture.History.Fault;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Collectors;

/**
 * What a failover may take back where replication is asynchronous: the latest commits of the time
 * line that it ends. Where replication is synchronous, nothing.
 */
final class Losses {
  private final History history;
  private final List<Fault> failovers;

  Losses(History history) {
    this.history = history;
    this.failovers =
        history.faults().stream()
            .filter(fault -> fault.kind().isFailover())
            .sorted(Comparator.comparing(Fault::start))
            .toList();
  }

  /** Whether what was confirmed at a call's end, or before, can be gone at a later time. */
  boolean mayHaveHit(Call call, long later) {
    return history.replication().mayLose()
        && failovers.stream().anyMatch(fault -> fault.touches(call.start(), later));
  }

  /** Whether two nodes took connections at one time, from a call's start to a later time. */
  boolean hadTwoPrimaries(Call call, long later) {
    return history.replication().mayLose()
        && failovers.stream()
            .filter(
                fault ->
                    fault.kind() == FaultKind.MANAGER_FREEZE
                        || fault.kind() == FaultKind.PRIMARY_FREEZE)
            .anyMatch(fault -> fault.touches(call.start(), later));
  }

  /**
   * Returns how many different answers of one key were given, at most, on one time line: those
   * whose effects were written on the same one, and those that calls got between the same two
   * failovers, wherever their effects are.
   *
   * @param answered calls
   */
  long answersOfOneTimeline(List<Call> answered) {
    Set<ByteString> all = answered.stream().map(Losses::bytes).collect(toSet());
    return history.replication().mayLose() && all.size() > 1
        ? Math.max(writtenOnOneTimeline(answered), givenBetweenFailovers(answered))
        : all.size();
  }

  private long givenBetweenFailovers(List<Call> answered) {
    return most(
        answered.stream()
            .filter(
                call ->
                    failovers.stream().noneMatch(fault -> fault.touches(call.start(), call.end())))
            .collect(groupingBy(this::failoversBefore, mapping(Losses::bytes, toSet()))));
  }

  private long failoversBefore(Call call) {
    return failovers.stream().filter(fault -> fault.end() < call.start()).count();
  }

  private long writtenOnOneTimeline(List<Call> answered) {
    Map<UUID, Long> timelines = history.replication().timelines();
    return most(
        answered.stream()
            .filter(call -> timelines.containsKey(value(call)))
            .collect(
                groupingBy(call -> timelines.get(value(call)), mapping(Losses::bytes, toSet()))));
  }

  private static long most(Map<Long, Set<ByteString>> ofTimelines) {
    return ofTimelines.values().stream().mapToLong(Set::size).max().orElse(0);
  }

  private static ByteString bytes(Call answered) {
    return answered.answer().orElseThrow().bytes();
  }

  private static UUID value(Call answered) {
    return answered.answer().orElseThrow().value();
  }

  /** Returns how many answers that clients got are gone, by the method that gave them. */
  static Map<Form, Long> of(History history) {
    Set<UUID> found = new HashSet<>();
    history.stored().forEach(record -> found.add(record.value()));
    history.effects().stream()
        .filter(effect -> !effect.guarded()) // which is on no record
        .forEach(effect -> found.add(effect.value()));
    return history.calls().stream()
        .flatMap(call -> call.answer().stream())
        .distinct()
        .filter(answer -> !found.contains(answer.value()))
        .collect(
            groupingBy(answer -> Form.valueOf(answer.form()), TreeMap::new, Collectors.counting()));
  }
}
