/**
 * The same promises without gRPC: a piece of work is run at most once under a token, for
 * schedulers, message consumers, and handlers that look after their keys themselves.
 */
@NullMarked
package io.github.grpcidempotency.work;

import org.jspecify.annotations.NullMarked;
