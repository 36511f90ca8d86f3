package io.github.grpcidempotency.internal.runtime;

import io.github.grpcidempotency.event.Entry;
import io.github.grpcidempotency.event.ProcedureInfo;
import io.github.grpcidempotency.internal.event.CallEvents;
import io.github.grpcidempotency.internal.event.DecisionLog;
import io.github.grpcidempotency.internal.event.Listeners;
import io.github.grpcidempotency.internal.event.ProcedureInfos;
import io.github.grpcidempotency.internal.wait.WaitCapacity;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.procedure.ClaimTiming;
import io.github.grpcidempotency.procedure.Procedure;
import io.github.grpcidempotency.procedure.WaitLimits;
import io.github.grpcidempotency.store.IdempotencyStore;
import io.github.grpcidempotency.store.ShardedStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * One engine for each shard of a store, so that a problem of one shard does not affect the others,
 * and another engine for callers without a shard, whose calls are refused. If the store has no
 * shards, there is one engine for all calls. Not for use by services. Thread-safe.
 */
public final class Engines implements AutoCloseable {
  private final List<Engine> all;
  private final Engine unassigned;
  private final Function<Caller, Engine> choice;
  private final Drain drain = new Drain();

  private Engines(List<Engine> all, Engine unassigned, Function<Caller, Engine> choice) {
    this.all = all;
    this.unassigned = unassigned;
    this.choice = choice;
  }

  /**
   * Creates the engines of a store.
   *
   * @param listeners receive the events of calls and leases
   * @param decisions writes the events to the log
   * @param keyName the name of the header that contains the key
   * @param timing when transactional calls are claimed, for procedures without a setting of their
   *     own
   * @param callLimit how long a call without a deadline may run
   * @param limits how many calls may wait, for all shards together
   * @param executor resumes calls that have waited
   */
  public static Engines on(
      IdempotencyStore store,
      Listeners listeners,
      DecisionLog decisions,
      String keyName,
      ClaimTiming timing,
      Duration callLimit,
      WaitLimits limits,
      Executor executor) {
    if (!(store instanceof ShardedStore sharded)) {
      Engine only =
          new Engine(store, listeners, decisions, keyName, timing, callLimit, limits, executor);
      return new Engines(List.of(only), only, caller -> only);
    }
    ProcedureInfos infos = new ProcedureInfos();
    WaitCapacity room = new WaitCapacity(limits);
    Map<Optional<String>, Engine> engines = new LinkedHashMap<>();
    Stream.concat(sharded.names().stream().map(Optional::of), Stream.of(Optional.<String>empty()))
        .forEach(
            name ->
                engines.put(
                    name,
                    new Engine(
                        sharded.shard(name),
                        name,
                        listeners,
                        decisions,
                        infos,
                        keyName,
                        timing,
                        callLimit,
                        room,
                        executor)));
    Engine unassigned = Objects.requireNonNull(engines.get(Optional.<String>empty()));
    return new Engines(
        new ArrayList<>(engines.values()),
        unassigned,
        caller -> engines.getOrDefault(sharded.shardOf(caller), unassigned));
  }

  /** Returns the engine of a caller. */
  public Engine of(Caller caller) {
    return choice.apply(caller);
  }

  /** Returns the engine of a call's caller. An unknown caller has no shard. */
  public Engine of(Optional<Caller> caller) {
    return caller.map(choice).orElse(unassigned);
  }

  /** Returns all engines. */
  public List<Engine> all() {
    return all;
  }

  /** Returns the calls that are refused when their server stops. */
  public Drain drain() {
    return drain;
  }

  /** Emits the {@code started} events of all engines. */
  public void start() {
    all.forEach(Engine::start);
  }

  /**
   * Returns the events of a call, or of a piece of work, that arrives on the current thread. Its
   * caller and its key are not known yet.
   */
  public CallEvents events(Procedure procedure, Entry entry) {
    return unassigned.events(procedure, entry);
  }

  /** Returns the events of a call that is about a procedure that is not known yet. */
  public CallEvents events(ProcedureInfo unknown) {
    return unassigned.events(unknown);
  }

  /** Returns the description of a procedure in events; the same object each time. */
  public ProcedureInfo info(Procedure procedure, Entry entry) {
    return unassigned.info(procedure, entry);
  }

  /** Returns the name of the header that carries the key. */
  public String keyName() {
    return unassigned.keyName();
  }

  /** Stops all background work. */
  @Override
  public void close() {
    all.forEach(Engine::close);
  }
}
