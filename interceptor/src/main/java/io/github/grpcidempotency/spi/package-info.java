/**
 * For authors of stores: claim, settle, renew, find. One contract test checks that all stores
 * behave in the same way. Depends on neither gRPC nor SQL.
 */
@NullMarked
package io.github.grpcidempotency.spi;

import org.jspecify.annotations.NullMarked;
