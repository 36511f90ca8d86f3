package io.github.grpcidempotency.internal.event;

import io.github.grpcidempotency.event.Entry;
import io.github.grpcidempotency.event.ProcedureInfo;
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
    return new ProcedureInfo(procedure.name(), entry, procedure.keyPolicy(), procedure.execution());
  }
}
