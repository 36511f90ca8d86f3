package io.github.grpcidempotency.event;

import io.github.grpcidempotency.procedure.Execution;
import io.github.grpcidempotency.procedure.KeyPolicy;

/**
 * What all events of one procedure have in common. Made once per procedure and entry, so whatever
 * is derived from it, such as the tags of a metric, can be kept under it. There are as many as the
 * service has procedures: none comes from a client.
 *
 * @param name the procedure's full name; that of the service, for a question about an operation
 *     that is not found
 * @param entry how its calls come in
 * @param keyPolicy whether its calls must carry a key
 * @param keyCase what kind of key its calls carry
 * @param execution how effect and record belong together
 */
public record ProcedureInfo(
    String name, Entry entry, KeyPolicy keyPolicy, KeyCase keyCase, Execution execution) {}
