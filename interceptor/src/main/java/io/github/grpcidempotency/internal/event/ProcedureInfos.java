package io.github.grpcidempotency.internal.event;

import io.github.grpcidempotency.event.Entry;
import io.github.grpcidempotency.event.KeyCase;
import io.github.grpcidempotency.event.ProcedureInfo;
import io.github.grpcidempotency.key.KeySource;
import io.github.grpcidempotency.procedure.KeyPolicy;
import io.github.grpcidempotency.procedure.Procedure;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The descriptions of procedures in events: one object for each procedure and entry. Thread-safe.
 */
public final class ProcedureInfos {
  private final Map<Entry, Map<String, ProcedureInfo>> infos =
      Map.of(
          Entry.CALL, new ConcurrentHashMap<>(),
          Entry.WORK, new ConcurrentHashMap<>(),
          Entry.RECOVERY, new ConcurrentHashMap<>(),
          Entry.OPERATIONS, new ConcurrentHashMap<>());

  /** Returns the description of a procedure; the same object each time. */
  public ProcedureInfo of(Procedure procedure, Entry entry) {
    Map<String, ProcedureInfo> known = infos.getOrDefault(entry, Map.of());
    ProcedureInfo info = known.get(procedure.name());
    return info != null
        ? info
        : known.computeIfAbsent(procedure.name(), name -> info(procedure, entry));
  }

  private static ProcedureInfo info(Procedure procedure, Entry entry) {
    return new ProcedureInfo(
        procedure.name(),
        entry,
        procedure.keyPolicy(),
        keyCase(procedure, entry),
        procedure.execution());
  }

  private static KeyCase keyCase(Procedure procedure, Entry entry) {
    if (entry == Entry.WORK || procedure.keyPolicy() == KeyPolicy.HANDLER_INTERNAL) {
      return KeyCase.HANDLER_INTERNAL;
    }
    boolean derived =
        procedure.keyPolicy() == KeyPolicy.DERIVED
            || procedure.keySource().filter(KeySource::readsRequest).isPresent();
    return derived ? KeyCase.DERIVED : KeyCase.HEADER;
  }
}
