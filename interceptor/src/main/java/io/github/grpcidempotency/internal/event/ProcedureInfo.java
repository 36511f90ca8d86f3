package io.github.grpcidempotency.internal.event;

import io.github.grpcidempotency.event.Entry;
import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.KeyPolicy;
import io.github.grpcidempotency.procedure.Procedure;

/**
 * The procedure of an event.
 *
 * @param name the procedure's full name; for a request about an unknown operation, the name of the
 *     called service
 */
public record ProcedureInfo(String name, Entry entry, KeyPolicy keyPolicy, Execution execution) {
  public static ProcedureInfo of(Procedure procedure, Entry entry) {
    return new ProcedureInfo(procedure.name(), entry, procedure.keyPolicy(), procedure.execution());
  }
}
