/**
 * The store on Redis or Valkey. Every rule of correctness is in its Lua scripts, of which one is
 * one operation, and the server decides all races by its own clock.
 */
@NullMarked
package io.github.grpcidempotency.redis;

import org.jspecify.annotations.NullMarked;
