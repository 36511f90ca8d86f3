package io.github.grpcidempotency.event;

import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.KeyPolicy;

/**
 * The properties that all events of one procedure share. There is one object for each procedure and
 * entry, so a listener can use it as the key of a cache, for example for the tags of a metric. The
 * number of objects depends only on the service's procedures, never on clients.
 *
 * @param name the procedure's full name; for a request about an unknown operation, the name of the
 *     called service
 */
public record ProcedureInfo(String name, Entry entry, KeyPolicy keyPolicy, Execution execution) {}
