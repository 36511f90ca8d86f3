package io.github.grpcidempotency.internal.engine;

import io.github.grpcidempotency.event.Entry;
import io.github.grpcidempotency.internal.decision.Refusal;
import io.github.grpcidempotency.internal.event.CallEvents;
import io.github.grpcidempotency.internal.event.ProcedureInfo;
import io.github.grpcidempotency.internal.record.RefusedException;
import io.github.grpcidempotency.internal.waiting.WaitCapacity;
import io.github.grpcidempotency.key.Caller;
import io.github.grpcidempotency.procedure.Procedure;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executor;

/**
 * One engine for each shard, so that a problem of one shard does not affect the others. Without
 * shards, there is one engine for all calls. Not for use by services. Thread-safe.
 */
public final class Engines implements AutoCloseable {
  private final EngineSettings settings;
  private final Stores stores;
  private final Map<CheckedStore, Engine> engines = new LinkedHashMap<>();
  private final Executor executor;
  private final Drain drain = new Drain();

  /** Creates the engines of stores that were {@linkplain Setup#check checked}. */
  public Engines(Stores stores, EngineSettings settings) {
    this.settings = settings;
    this.stores = stores;
    this.executor = new CallerRunsExecutor(settings.executor());
    WaitCapacity room = new WaitCapacity(settings.waitLimits());
    stores.all().forEach(store -> engines.put(store, new Engine(store, settings, room)));
  }

  /** Returns the engine of a call's caller; empty if the caller has no shard, or is unknown. */
  public Optional<Engine> of(Optional<Caller> caller) {
    return stores.of(caller).map(engines::get);
  }

  public Engine of(Caller caller) {
    return of(Optional.of(caller)).orElseThrow(() -> new RefusedException(Refusal.noShard()));
  }

  public Collection<Engine> all() {
    return engines.values();
  }

  public Drain drain() {
    return drain;
  }

  public Executor executor() {
    return executor;
  }

  public void start() {
    all().forEach(Engine::start);
  }

  /**
   * Returns the events of a call, or of a piece of work, that arrives on the current thread. Its
   * caller and its key are not known yet.
   */
  public CallEvents events(Procedure procedure, Entry entry) {
    return events(ProcedureInfo.of(procedure, entry));
  }

  /** Returns the events of a call that is about a procedure that is not known yet. */
  public CallEvents events(ProcedureInfo unknown) {
    return CallEvents.capture(settings.listeners(), settings.decisions(), unknown);
  }

  @Override
  public void close() {
    Closing.all(all().stream().<Runnable>map(engine -> engine::close).toList());
  }
}
