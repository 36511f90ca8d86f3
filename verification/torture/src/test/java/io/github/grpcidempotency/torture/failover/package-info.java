/**
 * A PostgreSQL of three nodes that fails over: Patroni, etcd and HAProxy on this machine, as
 * processes that can be killed and frozen. It knows nothing of the library.
 */
@NullMarked
package io.github.grpcidempotency.torture.failover;

import org.jspecify.annotations.NullMarked;
