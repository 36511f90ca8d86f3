/**
 * What the algorithm needs of a database, and no more: claim, settle, renew. One contract test
 * holds every store to the same behaviour. No gRPC, no SQL.
 */
@NullMarked
package io.github.grpcidempotency.store;

import org.jspecify.annotations.NullMarked;
