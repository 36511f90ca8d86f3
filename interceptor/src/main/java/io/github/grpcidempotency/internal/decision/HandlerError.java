package io.github.grpcidempotency.internal.decision;

import com.google.rpc.Code;

/**
 * The error with which a handler has closed its call, or that it has thrown.
 *
 * @param code never {@code OK}
 * @param terminal whether the handler itself marked the error as terminal
 */
public record HandlerError(Code code, boolean terminal) {}
