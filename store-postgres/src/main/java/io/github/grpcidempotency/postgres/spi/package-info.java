/** For authors of hosts: the transactions of a framework in which handlers run. */
@NullMarked
package io.github.grpcidempotency.postgres.spi;

import org.jspecify.annotations.NullMarked;
