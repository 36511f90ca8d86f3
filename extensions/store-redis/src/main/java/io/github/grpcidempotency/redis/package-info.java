/**
 * The store on Redis or Valkey. All rules of correctness are in its Lua scripts, one per operation,
 * and the server decides all races by its own clock.
 */
@NullMarked
package io.github.grpcidempotency.redis;

import org.jspecify.annotations.NullMarked;
