/**
 * What the algorithm needs from a database, and no more: claim, settle, renew. One contract test
 * checks that all stores behave the same. No gRPC, no SQL.
 */
@NullMarked
package io.github.grpcidempotency.store;

import org.jspecify.annotations.NullMarked;
